package formattest

import (
	"errors"
	"io"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
)

// ErrBroken is the error of the readers and writers here.
var ErrBroken = errors.New("broken on purpose")

// A FailingReader is content whose reads fail with [ErrBroken] after the first Reads ones.
type FailingReader struct {
	io.ReaderAt
	Reads int
}

// ReadAt reads while reads are left.
func (f *FailingReader) ReadAt(p []byte, offset int64) (int, error) {
	if f.Reads--; f.Reads < 0 {
		return 0, ErrBroken
	}
	return f.ReaderAt.ReadAt(p, offset)
}

// Failed reports whether a read failed.
func (f *FailingReader) Failed() bool { return f.Reads < 0 }

// A FailingWriter takes that many bytes, and fails with [ErrBroken] then.
type FailingWriter int

// Write accepts as much as fits.
func (w *FailingWriter) Write(p []byte) (int, error) {
	n := min(len(p), int(*w))
	if *w -= FailingWriter(n); n < len(p) {
		return n, ErrBroken
	}
	return n, nil
}

// FailingMessages are messages; reading message K fails with [ErrBroken].
type FailingMessages struct {
	format.Messages
	K int
}

// At returns message k.
func (m FailingMessages) At(k int) (domarkx.WrittenMessage, error) {
	if k == m.K {
		return domarkx.WrittenMessage{}, ErrBroken
	}
	return m.Messages.At(k)
}

// File returns a document as a file.
func File(data string) format.File {
	return format.File{Path: "f", Content: strings.NewReader(data), Size: int64(len(data))}
}

// ReadAll reads all messages of all conversations of a document.
func ReadAll(codec format.Codec, f format.File) error {
	_, err := open(codec, f)
	return err
}
