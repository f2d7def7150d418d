package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
)

// A File is a document that is read in parts, because it may be larger than memory. Its content
// must not change meanwhile.
type File struct {
	Path    string // as in [Source]
	Content io.ReaderAt
	Size    int64
	Include func(path string) ([]byte, error) // as in [Source]
}

// A Stream is a conversation of a document. It holds in memory only what must be known about all
// messages.
type Stream struct {
	// Suffix is appended to the document's name for the name of the session. It is "" for the
	// document's first conversation.
	Suffix   string
	Header   domarkx.Header
	Preamble domarkx.Written   // as in [domarkx.Document]
	Includes []domarkx.Include // as in Document
	Damage   []*syntax.Error   // as in [domarkx.Document]; the first conversation has that of all
	Messages Messages
	// State is what [Codec.Grow] must know about the document; "" if the whole document must be
	// read again when it has grown. The first Read bytes of the document do not change when it
	// grows.
	State string
	Read  int64
}

// Messages is the list of messages of a conversation. At may read a message anew on each call; the
// result is always the same.
type Messages interface {
	Len() int
	At(k int) (domarkx.WrittenMessage, error)
}

// Placed is a [Messages] whose messages have known positions in the document.
type Placed interface {
	Messages
	// End returns the offset at which message k ends in the document, or an estimate.
	End(k int) int64
}

// Shared is a [Messages] of a document with several conversations that have messages in common.
type Shared interface {
	Messages
	// Key identifies message k together with all messages before it: two conversations with equal
	// keys have the same messages up to k. It returns false if no other conversation has the
	// message.
	Key(k int) (key uint64, isShared bool)
}

// Document reads all messages.
func (s Stream) Document() (*domarkx.Document, error) {
	doc := &domarkx.Document{Header: s.Header, Preamble: s.Preamble, Includes: s.Includes, Damage: s.Damage, Conversation: make([]domarkx.WrittenMessage, s.Messages.Len())}
	for k := range doc.Conversation {
		var err error
		if doc.Conversation[k], err = s.Messages.At(k); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// A Conversation is a [Messages] in memory.
type Conversation []domarkx.WrittenMessage

// Len returns the number of messages.
func (c Conversation) Len() int { return len(c) }

// At returns message k.
func (c Conversation) At(k int) (domarkx.WrittenMessage, error) { return c[k], nil }

// Decoding returns a [Codec.Decode] that reads with a [Codec.Open].
func Decoding(open func(f File) iter.Seq2[Stream, error]) func(src Source) (*domarkx.Document, error) {
	return func(src Source) (*domarkx.Document, error) {
		for s, err := range open(File{Path: src.Path, Content: bytes.NewReader(src.Data), Size: int64(len(src.Data)), Include: src.Include}) {
			if err != nil {
				return nil, err
			}
			return s.Document()
		}
		panic("a document without a conversation")
	}
}

// Encoding returns a [Codec.Encode] that writes with a [Codec.Write].
func Encoding(write func(domarkx.Header, Messages, Target) (func(w io.Writer) error, error)) func(doc *domarkx.Document, to Target) ([]byte, error) {
	return func(doc *domarkx.Document, to Target) ([]byte, error) {
		writer, err := write(doc.Header, Conversation(doc.Conversation), to)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = writer(&out)
		return out.Bytes(), err
	}
}

// Writing returns the results of [Codec.Write] for a function that writes a document and records
// its losses. It calls write once to record them.
func Writing(to Target, write func(w io.Writer, to Target) error) (func(w io.Writer) error, error) {
	if err := write(io.Discard, to); err != nil {
		return nil, err
	}
	to.Losses = nil // they are recorded now
	return func(w io.Writer) error { return write(w, to) }, nil
}

// blockSize is how much of a file is read at once, in bytes.
const blockSize = 256 << 10

// maxAgain is the size in bytes up to which a window uses its block again.
const maxAgain = 16 * blockSize

// A Window reads parts of a file, and keeps a block of it in memory. It is fastest if offsets
// ascend.
type Window struct {
	file  File
	block []byte
	start int64 // offset of block in the file
}

// NewWindow returns a window on a file.
func NewWindow(f File) *Window { return &Window{file: f} }

// Bytes returns n bytes of the file from offset start, which are valid until the next use of the window. If
// the file is shorter, the error is [domarkx.ErrInvalid].
func (w *Window) Bytes(start, n int64) ([]byte, error) {
	if at := start - w.start; at >= 0 && at+n <= int64(len(w.block)) {
		return w.block[at : at+n : at+n], nil
	}
	if start < 0 || n < 0 || n > w.file.Size-start {
		return nil, fmt.Errorf("reading %d bytes at %d of %d: %w", n, start, w.file.Size, domarkx.ErrInvalid)
	}
	size := max(n, min(blockSize, w.file.Size-start))
	var block []byte
	if int64(cap(w.block)) >= size && cap(w.block) <= maxAgain {
		block, w.block = w.block[:size], nil // if the read fails, the window is empty
	} else {
		block = make([]byte, size)
	}
	if got, err := w.file.Content.ReadAt(block, start); got < len(block) {
		if err == io.EOF {
			err = fmt.Errorf("%w: the file became shorter while it was read; import it again", domarkx.ErrInvalid)
		}
		return nil, err
	}
	w.block, w.start = block, start
	return block[:n:n], nil
}

// Line returns the line at offset start without its LF, and whether it has one.
func (w *Window) Line(start int64) (line []byte, whole bool, err error) {
	left := w.file.Size - start
	n := min(left, blockSize)
	if ready := w.start + int64(len(w.block)) - start; start >= w.start && ready > 0 {
		n = min(left, ready)
	}
	for {
		data, err := w.Bytes(start, n)
		if err != nil {
			return nil, false, err
		}
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			return data[:end:end], true, nil
		}
		if n == left {
			return data, false, nil
		}
		n = min(left, max(2*n, blockSize))
	}
}
