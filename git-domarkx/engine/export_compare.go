package engine

import (
	"bytes"
	"errors"
	"io"
)

// Is reports whether the document consists of exactly the bytes of content.
func (e *Export) Is(content io.Reader) (bool, error) {
	c := &comparing{with: content}
	if err := e.write(c); errors.Is(err, errDiffers) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	n, err := io.ReadFull(content, make([]byte, 1))
	if err == io.EOF {
		err = nil
	}
	return n == 0, err
}

// errDiffers stops an export at the first difference.
var errDiffers = errors.New("the export differs")

// comparing is a writer that compares the written bytes with those of a reader.
type comparing struct{ with io.Reader }

// Write returns errDiffers if p differs from the next bytes of the reader.
func (c *comparing) Write(p []byte) (int, error) {
	expected := make([]byte, len(p))
	_, err := io.ReadFull(c.with, expected)
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && !bytes.Equal(p, expected) {
		return 0, errDiffers
	}
	return len(p), err
}
