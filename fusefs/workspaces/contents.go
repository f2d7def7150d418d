//go:build linux || darwin

package workspaces

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

const (
	maxOpen      = 64       // open contents
	maxOpenBytes = 64 << 20 // their total size
)

// contents caches open contents, of files that the kernel reads in parts. They hold memory and no files, so they are not closed:
// the last reference frees them.
type contents struct {
	open func(ctx context.Context, id string) (domarkx.Content, error)
	kept recent.Cache[string, domarkx.Content]
}

func newContents(open func(ctx context.Context, id string) (domarkx.Content, error)) *contents {
	c := &contents{open: open}
	c.kept.Most = maxOpenBytes
	// Large contents are not in memory, so at most a quarter of the limit is counted for one.
	c.kept.Cost = func(content domarkx.Content) int {
		return int(min(max(content.Size(), maxOpenBytes/maxOpen), maxOpenBytes/4))
	}
	return c
}

// read fills dst with the bytes of a content from off. It returns domarkx.ErrCorrupt if
// the content does not have size bytes.
func (c *contents) read(ctx context.Context, id string, size int64, dst []byte, off int64) error {
	content, err := c.kept.Load(ctx, id, func(ctx context.Context) (domarkx.Content, error) { return c.open(ctx, id) })
	if err != nil {
		return err
	}
	if content.Size() != size {
		return fmt.Errorf("content: %w: it has %d bytes, expected %d", domarkx.ErrCorrupt, content.Size(), size)
	}
	n, err := content.ReadAt(dst, off)
	if n == len(dst) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
