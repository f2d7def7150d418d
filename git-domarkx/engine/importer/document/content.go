// Package document reads the documents to import: their bytes, which must not change meanwhile, the files beside them, and
// their conversations. It knows nothing of the sessions that are made of them.
package document

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// A Content is the content of a document.
type Content struct {
	io.ReaderAt
	Size      int64
	Digest    [sha256.Size]byte // set by [Content.ReadThrough]
	HasImages bool              // whether it may contain images; set by [Content.ReadThrough]
	Stamp     string            // of the file when it was opened; see [Stamp]

	// Filter is that with which [Content.Redact] has replaced the secrets, which the document and its files then do not have.
	Filter transaction.Filter
	clean  *local.Temporary // file with the content without secrets

	source  *io.SectionReader // the document as it was found
	file    *os.File          // nil for standard input
	closers []io.Closer       // of all files
	opened  os.FileInfo       // state of the file when it was opened
	began   time.Time         // time at which the file was opened
	sum     []byte            // SHA-256 of source; nil before it was read
}

// New returns the content that a reader has.
func New(r io.ReaderAt, size int64) *Content {
	return &Content{ReaderAt: r, Size: size, source: io.NewSectionReader(r, 0, size)}
}

// Open opens a file. It fixes the size of the document, because the file may grow. If the file is compressed, the document is
// its content.
func Open(path string) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a directory")
	}
	began := time.Now()
	var c *Content
	switch {
	case err != nil:
	case isCompressed(f):
		if c, err = Temporary(func(w io.Writer) error { return uncompress(w, f) }); err == nil {
			f.Close()
		}
	default:
		c = New(f, info.Size())
		c.file, c.closers, c.opened, c.began = f, []io.Closer{f}, info, began
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	c.Stamp = Stamp(info, began)
	return c, nil
}

// Temporary returns the content that write writes, in a temporary file.
func Temporary(write func(io.Writer) error) (*Content, error) {
	began := time.Now()
	f, err := local.NewTemporary("", write)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	c := New(f, info.Size())
	c.file, c.closers, c.opened, c.began = f.File, []io.Closer{f}, info, began
	return c, nil
}

// Close closes the files of the document.
func (c *Content) Close() {
	for _, f := range c.closers {
		f.Close()
	}
}

// clockTick is the coarsest resolution of the times in file systems.
const clockTick = 2 * time.Second

// Stamp returns the stamp of a document that was opened at a time. As long as the stamp of a document is the same, its
// content is. Stamp returns "" if the document was written so shortly before that another write might not change the stamp.
func Stamp(info os.FileInfo, opened time.Time) string {
	if !info.Mode().IsRegular() || opened.Sub(info.ModTime()) < clockTick {
		return ""
	}
	return local.Stamp(info)
}

// All returns a reader of the whole document.
func (c *Content) All() *io.SectionReader { return io.NewSectionReader(c.ReaderAt, 0, c.Size) }

// ReadThrough reads the document once: it sets its digest and whether it may contain images, if those are wanted, and adds
// the document with its secrets to a new digest of the caller's.
func (c *Content) ReadThrough(digest hash.Hash, wantImages bool) error {
	images, writers := finder{words: []string{"image/", `image\`}}, []io.Writer{digest} // a slash may be escaped
	if wantImages {
		writers = append(writers, &images)
	}
	if err := copyAll(io.MultiWriter(writers...), c.source); err != nil {
		return err
	}
	c.HasImages = images.found
	if c.clean == nil {
		digest.Sum(c.Digest[:0])
	}
	before := c.sum
	if c.sum = digest.Sum(nil); before != nil && !bytes.Equal(c.sum, before) {
		return ErrChanged
	}
	return nil
}

// copyAll copies all of a document to w.
func copyAll(w io.Writer, from *io.SectionReader) error {
	n, err := io.Copy(w, io.NewSectionReader(from, 0, from.Size()))
	if err == nil && n < from.Size() {
		err = ErrChanged
	}
	return err
}

// Data reads the document, but only its first most bytes.
func (c *Content) Data(most int64) ([]byte, error) {
	data := make([]byte, min(c.Size, most))
	if n, err := c.ReadAt(data, 0); n < len(data) {
		if err == io.EOF {
			err = ErrChanged
		}
		return nil, err
	}
	return data, nil
}

// Head reads the beginning of the document.
func (c *Content) Head() ([]byte, error) {
	head := make([]byte, min(c.Size, format.HeadSize))
	n, err := c.ReadAt(head, 0)
	if err == io.EOF {
		err = nil
	}
	return head[:n], err
}

// Contains reports whether the document contains a lower-case word, ignoring case.
func (c *Content) Contains(word string) (bool, error) {
	found := &finder{words: []string{word}, fold: true}
	err := copyAll(found, c.All())
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

// ErrChanged is the error for a file that changed while it was read.
var ErrChanged = fmt.Errorf("%w: the file changed while it was read; import it again", domarkx.ErrInvalid)

// Verify returns [ErrChanged] if the document has changed since it was first read: an import reads parts of it several
// times. If the file's modification time is old, and the file still has this time and its size, it is unchanged.
// Otherwise Verify reads the document again.
func (c *Content) Verify() error {
	if c.file == nil {
		return nil
	}
	now, err := c.file.Stat()
	if err != nil {
		return local.PathError(err)
	}
	written := c.opened.ModTime()
	if now.Size() == c.source.Size() && now.ModTime().Equal(written) && c.began.Sub(written) > clockTick {
		return nil
	}
	sum := sha256.New()
	if err := copyAll(sum, c.source); err != nil {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), c.sum) {
		return ErrChanged
	}
	return nil
}

// Checked returns a reader of the document, and what then returns [ErrChanged] if this reader has read other bytes than
// [Content.ReadThrough].
func (c *Content) Checked() (io.Reader, func() error) {
	sum := sha256.New()
	return io.TeeReader(c.All(), sum), func() error {
		if c.clean == nil && !bytes.Equal(sum.Sum(nil), c.sum) { // nobody else writes to the file without secrets
			return ErrChanged
		}
		return nil
	}
}

// Redact replaces the content by a temporary file without its secrets.
func (c *Content) Redact(ctx context.Context, filter transaction.Filter) (err error) {
	digest := sha256.New()
	c.clean, err = local.NewTemporary("", func(w io.Writer) error {
		return filter.Redaction().Copy(ctx, io.MultiWriter(w, digest), c.ReaderAt, c.Size)
	})
	if err != nil {
		return err
	}
	c.closers = append(c.closers, c.clean)
	info, err := c.clean.Stat()
	if err != nil {
		return err
	}
	c.ReaderAt, c.Filter, c.Size = c.clean, filter, info.Size()
	digest.Sum(c.Digest[:0])
	return nil
}

// IsRedacted reports whether [Content.Redact] has replaced the secrets.
func (c *Content) IsRedacted() bool { return c.clean != nil }

// WithoutSecrets returns the content of a file of the document, without its secrets if the document is redacted.
func (c *Content) WithoutSecrets(ctx context.Context, file []byte) ([]byte, error) {
	if c.clean == nil {
		return file, nil
	}
	return c.Filter.Redaction().Bytes(ctx, file)
}
