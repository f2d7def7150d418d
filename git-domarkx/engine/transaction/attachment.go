package transaction

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxFiltered is the size up to which a file is redacted in memory, in bytes.
const maxFiltered = 64 << 20

// StoreAttachment stores the content of an attachment without its secrets. It returns the attachment and its size in bytes. Of a
// redacted session it reads all of the content into memory, unless that is an [*os.File].
func (tx *Tx) StoreAttachment(ctx context.Context, f Filter, content io.Reader) (domarkx.Attachment, int64, error) {
	clean, closeClean, err := f.clean(ctx, content)
	if err != nil {
		return domarkx.Attachment{}, 0, err
	}
	defer closeClean()
	counted := &counter{Reader: clean}
	blob, sum, err := tx.stored.StoreAttachment(ctx, counted)
	return domarkx.Attachment{SHA256: sum, Blob: blob}, counted.n, err
}

// clean returns a reader of content without secrets, and a function that removes its temporary files.
func (f Filter) clean(ctx context.Context, content io.Reader) (io.Reader, func(), error) {
	if err := f.check(); err != nil || f.redaction == nil {
		return content, func() {}, err
	}
	if file, ok := content.(*os.File); ok {
		if info, err := file.Stat(); err != nil {
			return nil, nil, err
		} else if info.Size() > maxFiltered {
			return f.cleanFile(ctx, file, info.Size())
		}
	}
	data, err := io.ReadAll(content)
	if err == nil {
		data, err = f.redaction.Bytes(ctx, data)
	}
	return bytes.NewReader(data), func() {}, err
}

// cleanFile writes a file without secrets to a temporary one.
func (f Filter) cleanFile(ctx context.Context, file *os.File, size int64) (io.Reader, func(), error) {
	temporary, err := os.CreateTemp("", "git-domarkx-*")
	if err != nil {
		return nil, nil, err
	}
	remove := func() {
		temporary.Close()
		os.Remove(temporary.Name())
	}
	err = f.redaction.Copy(ctx, temporary, file, size)
	if err == nil {
		_, err = temporary.Seek(0, io.SeekStart)
	}
	if err != nil {
		remove()
		return nil, nil, fmt.Errorf("replacing secrets: %w", err)
	}
	return temporary, remove, nil
}

// A counter counts the bytes that were read.
type counter struct {
	io.Reader
	n int64
}

// Read reads and counts.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}
