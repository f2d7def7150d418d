package gitstore

import (
	"context"

	"github.com/domarkx/domarkx"
)

// ConflictCount counts the conflicts of a snapshot. It does not read the contents of messages.
func (r reader) ConflictCount(ctx context.Context, id string) (int, error) {
	root, info, err := r.root(id)
	if err != nil {
		return 0, err
	}
	n, same := 0, false
	var last domarkx.ID
	headers, _, err := r.parts(ctx, root, info.Messages, func(e domarkx.Entry) {
		if e.ID != last {
			same = false
		} else if !same {
			same = true
			n++
		}
		last = e.ID
	})
	if len(headers) > 1 {
		n++
	}
	return n, err
}
