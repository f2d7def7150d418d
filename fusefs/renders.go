//go:build linux || darwin

package fusefs

import (
	"context"

	"golang.org/x/sync/singleflight"

	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

const (
	maxRenders = 64 << 20 // bytes of cached documents
	maxSizes   = 1 << 18  // cached sizes
)

// A render identifies an immutable document or message in a form.
type render struct {
	id      string // of a snapshot
	message int    // -1 for the whole document
	form    Form
}

// renders caches the documents that were used last, and the sizes of many more.
// Concurrent readers of a document share one rendering.
type renders struct {
	make    func(context.Context, render) ([]byte, error)
	running singleflight.Group
	kept    recent.Cache[render, []byte]
	sizes   recent.Cache[render, int64]
}

// get returns the rendered document. The caller must not change it.
func (c *renders) get(ctx context.Context, r render) ([]byte, error) {
	return c.kept.Load(r, func() ([]byte, error) {
		// Other readers may wait for this rendering, so an interrupt of its first reader does
		// not cancel it.
		v, err, _ := c.running.Do(r.String(), func() (any, error) { return c.make(context.WithoutCancel(ctx), r) })
		data, _ := v.([]byte)
		if err == nil {
			c.sizes.Put(r, int64(len(data)))
		}
		return data, err
	})
}
