package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// An input is a document to import, or one of its branches.
type input struct {
	found
	*content
	codec    format.Codec
	identity string          // see [format.Identity]; "" if the document has none
	isSame   bool            // whether the session already has this document
	insists  bool            // whether the user named the format
	isPart   bool            // whether another file was imported last as this session
	isFork   bool            // whether it is a branch, and not the document's main conversation
	damage   []*syntax.Error // what could not be read when the document was made
}

// A content is the parsed content of a document, which all of its conversations share.
type content struct {
	io.ReaderAt
	size   int64
	file   *os.File    // nil for standard input
	opened os.FileInfo // state of the file when it was opened
	began  time.Time   // time at which the file was opened
	// temporary is the path of file if that contains the content of a compressed file, and otherwise "".
	temporary string
	digest    [32]byte // SHA-256 of the document
	images    bool     // whether it may contain images

	source *io.SectionReader // the document as it was found; nil before it is read through
	print  *fingerprint      // of source

	filter    transaction.Filter    // of redaction
	redaction transaction.Redaction // if not nil, the document and its files have no secrets, and source has them
	clean     *os.File              // file with the content without secrets
}

// openInput opens a file to import. It fixes the size of the document, because the file may grow. If the file is
// compressed, the document is its content.
func openInput(at found) (input, error) {
	f, err := os.Open(at.path)
	if err != nil {
		return input{}, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a directory")
	}
	if err != nil {
		f.Close()
		return input{}, err
	}
	in := input{found: at, content: &content{file: f, opened: info, began: time.Now()}}
	in.stamp = stampOf(info, in.began)
	if isCompressed(f) {
		in.file, err = uncompress(f)
		f.Close()
		if err != nil {
			return input{}, err
		}
		in.temporary = in.file.Name()
		if in.opened, err = in.file.Stat(); err != nil {
			in.close()
			return input{}, err
		}
	}
	in.ReaderAt, in.size = in.file, in.opened.Size()
	return in, nil
}

func (in *content) close() {
	if in.file != nil {
		in.file.Close()
	}
	if in.temporary != "" {
		os.Remove(in.temporary)
	}
	if in.clean != nil {
		in.clean.Close()
		os.Remove(in.clean.Name())
	}
}

// isLarge reports whether importing the document needs much memory: as values several times its size if it is decoded
// in memory, and otherwise for the index of its messages.
func (in *input) isLarge() bool {
	const held, indexed = 2 << 20, 128 << 20
	if in.codec.Open == nil || in.file == nil {
		return in.size > held
	}
	return in.size > indexed
}

// readThrough reads the document once: it sets its fingerprint, its digest and whether it may contain images, and adds the
// document with its secrets to a digest of the caller's.
func (in *input) readThrough(digest hash.Hash) error {
	if in.source == nil {
		in.source = io.NewSectionReader(in.ReaderAt, 0, in.size)
	}
	print := newFingerprint()
	if in.print != nil {
		print = in.print.again()
	}
	images, writers := finder{words: []string{"image/", `image\`}}, []io.Writer{digest, print} // a slash may be escaped
	if in.codec.Images {
		writers = append(writers, &images)
	}
	if err := copyAll(io.MultiWriter(writers...), in.source); err != nil {
		return err
	}
	in.images = images.found
	if in.redaction == nil {
		digest.Sum(in.digest[:0])
	}
	if in.print != nil && !print.same(in.print) {
		return errChanged
	}
	in.print = print
	return nil
}

// copyTo copies the document to w.
func (in *content) copyTo(w io.Writer) error {
	return copyAll(w, io.NewSectionReader(in.ReaderAt, 0, in.size))
}

// copyAll copies all of a document to w.
func copyAll(w io.Writer, from *io.SectionReader) error {
	n, err := io.CopyBuffer(onlyWriter{w}, io.NewSectionReader(from, 0, from.Size()), make([]byte, min(from.Size()+1, 256<<10)))
	if err == nil && n < from.Size() {
		err = errChanged
	}
	return err
}

// onlyWriter hides the methods of a writer other than Write.
type onlyWriter struct{ io.Writer }

// data reads the document, but only its first most bytes.
func (in *content) data(most int64) ([]byte, error) {
	data := make([]byte, min(in.size, most))
	if n, err := in.ReadAt(data, 0); n < len(data) {
		if err == io.EOF {
			err = errChanged
		}
		return nil, err
	}
	return data, nil
}

// head reads the beginning of the document.
func (in *content) head() ([]byte, error) {
	head := make([]byte, min(in.size, format.HeadSize))
	n, err := in.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// includes reports whether the document may include other files.
func (in *input) includes() (bool, error) {
	if in.codec.Name != string(engine.Markdown) {
		return false, nil
	}
	return in.contains("[include](")
}

// contains reports whether the document contains a lower-case word, ignoring case.
func (in *content) contains(word string) (bool, error) {
	found := &finder{words: []string{word}, fold: true}
	err := in.copyTo(found)
	return found.found, err
}

// A finder is a writer that looks for words in the written bytes.
type finder struct {
	words []string // if fold is set, in lower case
	fold  bool     // whether to ignore case
	tail  []byte   // end of the previous data, which is as long as the longest word
	found bool
}

// Write looks for the words in p.
func (f *finder) Write(p []byte) (int, error) {
	if f.found {
		return len(p), nil
	}
	text, longest := append(f.tail, p...), 0
	if f.fold {
		text = bytes.ToLower(text)
	}
	for _, word := range f.words {
		f.found, longest = f.found || bytes.Contains(text, []byte(word)), max(longest, len(word))
	}
	f.tail = append(f.tail[:0], text[max(0, len(text)-longest):]...)
	return len(p), nil
}

// errChanged is the error for a file that changed while it was read.
var errChanged = fmt.Errorf("%w: the file changed while it was read; import it again", domarkx.ErrInvalid)

// verify returns errChanged if the document has changed since it was first read: an import reads parts of it several
// times. If the file's modification time is old, and the file still has this time and its size, it is unchanged.
// Otherwise verify reads the document again.
func (in *content) verify() error {
	if in.file == nil {
		return nil
	}
	now, err := in.file.Stat()
	if err != nil {
		return local.PathError(err)
	}
	written := in.opened.ModTime()
	if now.Size() == in.source.Size() && now.ModTime().Equal(written) && in.began.Sub(written) > clockTick {
		return nil
	}
	again := in.print.again()
	if err := copyAll(again, in.source); err != nil {
		return err
	}
	if !again.same(in.print) {
		return errChanged
	}
	return nil
}

// A fingerprint shows whether the same bytes were written to it as to another fingerprint. It takes a tenth of the time
// of a digest. Its seed is random and secret, so that nobody can make different bytes with the same fingerprint.
type fingerprint struct{ maphash.Hash }

func newFingerprint() *fingerprint { return new(fingerprint) }

// again returns an empty fingerprint with the same seed, for comparison.
func (p *fingerprint) again() *fingerprint {
	again := new(fingerprint)
	again.SetSeed(p.Seed())
	return again
}

func (p *fingerprint) same(other *fingerprint) bool { return p.Sum64() == other.Sum64() }

// A document is a document on its way through an import.
type document struct {
	*collector
	in    input // its content is nil until the document is opened
	files includeReader
	next  func() (conversation, error, bool) // returns the next conversation
	stop  func()
}

// open opens the document.
func (d *document) open(ctx context.Context) (err error) {
	in, err := d.collector.open(ctx, d.in.found)
	if err != nil {
		return err
	}
	if d.in = in; d.large != nil && in.isLarge() {
		d.large()
	}
	return nil
}

// begin reads the bytes of the document once. Its conversations begin with the first one.
func (d *document) begin(ctx context.Context) error {
	d.end()
	d.files = includeReader{root: filepath.Dir(d.in.path), digest: sha256.New(), redacted: func(data []byte) ([]byte, error) { return d.in.withoutSecrets(ctx, data) }}
	include := d.files.read
	if d.in.path == "-" {
		include = nil
	}
	d.next, d.stop = iter.Pull2(d.in.conversations(include))
	return d.in.readThrough(d.files.digest)
}

func (d *document) end() {
	if d.stop != nil {
		d.stop()
	}
	d.files.close()
}

func (d *document) close() {
	d.end()
	if d.in.content != nil {
		d.in.close()
	}
}

// A conversation is one conversation of a document.
type conversation struct {
	suffix   string // see [format.Stream]
	doc      *domarkx.Document
	messages format.Messages // messages of the conversation, if doc does not contain them
	state    string
	read     int64
}

// conversations reads the conversations of a document. The first one is the main conversation.
func (in *input) conversations(include func(string) ([]byte, error)) iter.Seq2[conversation, error] {
	return func(yield func(conversation, error) bool) {
		if in.codec.Open == nil {
			data, err := in.data(in.size)
			if err != nil {
				yield(conversation{}, inputError(*in, err))
				return
			}
			doc, err := in.codec.Decode(format.Source{Path: in.path, Data: data, Include: include})
			yield(conversation{doc: doc}, err)
			return
		}
		for s, err := range in.codec.Open(format.File{Path: in.path, Content: in.ReaderAt, Size: in.size, Include: include}) {
			doc := &domarkx.Document{Header: s.Header, Preamble: s.Preamble, Includes: s.Includes, Damage: s.Damage}
			if !yield(conversation{suffix: s.Suffix, doc: doc, messages: pictured(in.codec, s.Messages), state: s.State, read: s.Read}, err) || err != nil {
				return
			}
		}
	}
}
