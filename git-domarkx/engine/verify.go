package engine

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"unicode/utf16"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// DocumentChecks verify stored snapshots against their recorded digests and sizes.
type DocumentChecks struct{ Store *gitstore.Store }

// Message verifies a message against the recorded digest and size.
func (DocumentChecks) Message(e domarkx.Entry, m domarkx.Message) error {
	data, ok := markdown.RenderRecorded(m, e.Layout.Digest)
	if !ok || int64(len(data)) != e.Layout.Size {
		return fmt.Errorf("%w: its bytes do not have the recorded SHA-256 or size", domarkx.ErrCorrupt)
	}
	return nil
}

// maxPreview is the maximum length of a preview in UTF-16 units, including the final "...".
const maxPreview = 53

// Snapshot verifies the document size that a snapshot's commit records. base is a verified
// snapshot that starts with the same messages, at least same of them, or "" for none. Of the
// preview, only the length is checked, because nothing depends on its text.
func (c DocumentChecks) Snapshot(ctx context.Context, id, base string, same int) error {
	info, err := c.Store.Info(ctx, id)
	if err != nil {
		return err
	}
	if len(utf16.Encode([]rune(info.Preview))) > maxPreview {
		return fmt.Errorf("%w: the preview in its commit has more than %d characters", domarkx.ErrCorrupt, maxPreview)
	}
	size, known := int64(0), false
	if base != "" {
		size, known, err = c.grown(ctx, id, base, same)
	}
	if err == nil && !known {
		size, err = c.whole(ctx, id)
	}
	if err == nil && size != info.Bytes {
		err = fmt.Errorf("%w: its document has %d bytes, its commit says %d", domarkx.ErrCorrupt, size, info.Bytes)
	}
	return err
}

// whole returns the size of a document and verifies its preamble.
func (c DocumentChecks) whole(ctx context.Context, id string) (int64, error) {
	v, err := view.Load(ctx, c.Store, id)
	if err != nil {
		return 0, err
	}
	_, err = v.Bytes(ctx, 0)
	return v.Size(), err
}

// grown computes the size of a document from that of base, which starts with the same messages. The cost depends only on the
// difference. It reports false if the size cannot be computed this way.
func (c DocumentChecks) grown(ctx context.Context, id, base string, same int) (int64, bool, error) {
	old, err := c.Store.Info(ctx, base)
	if err != nil || same == 0 {
		return 0, false, err
	}
	headers, err := c.Store.Header(ctx, id)
	if err != nil {
		return 0, false, err
	}
	before, err := c.Store.Header(ctx, base)
	if err != nil || !reflect.DeepEqual(headers, before) {
		return 0, false, err
	}
	last, err := c.Store.Entry(ctx, base, same-1)
	if err != nil {
		return 0, false, err
	}
	from := max(0, same-2-last.Layout.Within) // see [SessionManager.Tail]
	sizes := [2]int64{}
	for i, snapshot := range []string{base, id} {
		live, err := c.Store.EntriesBetween(ctx, snapshot, from, math.MaxInt)
		if err != nil {
			return 0, false, err
		}
		v, err := view.New(ctx, c.Store, &domarkx.State{Headers: headers, Thread: domarkx.Thread{Live: live}})
		if err != nil {
			return 0, false, err
		}
		sizes[i] = v.Size()
	}
	return old.Bytes - sizes[0] + sizes[1], true, nil
}
