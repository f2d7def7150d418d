//go:build linux || darwin

package fusefs

import (
	"context"
	"strconv"
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

// rendered returns a document or message, which the caller must not change.
func (v *view) rendered(ctx context.Context, r render) ([]byte, error) {
	return v.documents.Load(ctx, r, func(ctx context.Context) (data []byte, err error) {
		if r.message < 0 {
			data, err = v.Snapshots.Render(ctx, r.id, r.form)
		} else {
			data, err = v.Snapshots.Message(ctx, r.id, r.message, r.form)
		}
		if err == nil {
			v.sizes.Put(r, int64(len(data)))
		}
		return data, err
	})
}

// String names the document or message in log entries.
func (r render) String() string {
	if r.message < 0 {
		return r.id + r.form.extension()
	}
	return r.id + "#" + strconv.Itoa(r.message) + r.form.extension()
}
