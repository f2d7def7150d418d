package redact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore/original"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A pair holds two forms of the same commit, at least one of them redacted.
type pair struct{ ours, theirs snapshot.CommitHead }

// key returns the id that a commit had before any redaction, which all its forms share.
func key(h snapshot.CommitHead) string {
	if h.IsVersion {
		return h.Version.Key(h.Version.ID)
	}
	return h.Info.Key(h.Info.ID)
}

// pairs returns, by key, the commits that both sides have in different forms.
func pairs(ours, theirs []snapshot.CommitHead) map[string]pair {
	byKey := make(map[string]snapshot.CommitHead, len(ours))
	for _, h := range ours {
		byKey[key(h)] = h
	}
	found := map[string]pair{}
	for _, h := range theirs {
		if o, ok := byKey[key(h)]; ok && idOf(o) != idOf(h) {
			found[key(h)] = pair{o, h}
		}
	}
	return found
}

// A reconciler compares two histories, at least one of them redacted.
type reconciler struct {
	from    snapshot.Reader
	ours    *placeholder.Table // the secrets in our commits alone, so that their side cannot declare a text of ours a secret
	theirs  *placeholder.Table
	next    *placeholder.Table    // gets the placeholders of the secrets of both sides
	keys    map[string]string     // commit of either side → its key, if that differs
	joined  map[string][]byte     // blob of theirs → the text without the secrets of either side, if that differs from the blob
	last    [2]*original.Document // the original documents that were compared last
	same    map[string]bool       // pairs of objects that were compared
	digests map[string]string     // digest of our attachment → digest of theirs in its place
	pairs   map[string]pair
	accept  bool // accept differences that are not secrets
}

// check returns an error that matches [transfer.ErrNotSame] unless the two snapshots of a pair differ only
// in secrets.
func (r *reconciler) check(ctx context.Context, p pair) error {
	a, b := p.ours, p.theirs
	headers, theirHeaders, err := both(ctx, r.from.Header, a.Info.ID, b.Info.ID)
	if err != nil {
		return err
	}
	dead, theirDead, err := both(ctx, r.from.Tombstones, a.Info.ID, b.Info.ID)
	if err != nil {
		return err
	}
	differ := func(what string) error {
		return fmt.Errorf("%w: %s of snapshot %.12s and %.12s", transfer.ErrNotSame, what, a.Info.ID, b.Info.ID)
	}
	switch {
	case a.Info.Number != b.Info.Number || !r.sameParents(a, b):
		return differ("the place in the history")
	case a.Info.Operation != b.Info.Operation || !sameSignature(a.Author, b.Author) || !sameSignature(a.Committer, b.Committer):
		return differ("author, date or operation")
	case len(headers) != len(theirHeaders) || a.Info.Messages != b.Info.Messages:
		return differ("the number of messages or headers")
	case !slices.EqualFunc(dead, theirDead, func(x, y domarkx.Tombstone) bool {
		return x.ID == y.ID && x.After == y.After && slices.Equal(x.Past, y.Past)
	}):
		return differ("the removed messages")
	}
	for i, h := range headers {
		if t := theirHeaders[i]; h.Rev != t.Rev || !slices.Equal(h.Past, t.Past) {
			return differ("the headers")
		}
		if err := r.header(ctx, h, theirHeaders[i]); err != nil {
			return fmt.Errorf("snapshot %.12s: header: %w", b.Info.ID, err)
		}
	}
	for leaves, err := range r.from.LeafPairs(ctx, a.Info.ID, b.Info.ID, func(a, b string) bool { return !r.first(a, b) }) {
		if err != nil {
			return err
		}
		if err := r.leaf(ctx, leaves); errors.Is(err, errPlaces) {
			return differ(errPlaces.Error())
		} else if err != nil {
			return fmt.Errorf("snapshot %.12s: %w", b.Info.ID, err)
		}
	}
	return r.attachments(ctx, a.Info.ID, b.Info.ID)
}

// sameParents reports whether the parents of two commits are forms of the same commits.
func (r *reconciler) sameParents(a, b snapshot.CommitHead) bool {
	return slices.EqualFunc(a.Parents, b.Parents, func(x, y string) bool { return cmp.Or(r.keys[x], x) == cmp.Or(r.keys[y], y) })
}

var errPlaces = errors.New("the ids, the order or the dates of the messages")

func (r *reconciler) leaf(ctx context.Context, leaves [2]snapshot.Leaf) error {
	ours, theirs, err := both(ctx, r.from.LeafEntries, leaves[0], leaves[1])
	if err != nil {
		return err
	}
	if len(ours) != len(theirs) {
		return errPlaces
	}
	for i, e := range ours {
		t := theirs[i]
		if e.ID != t.ID || e.After != t.After || e.Rev != t.Rev || e.Role != t.Role || e.Date != t.Date || !slices.Equal(e.Past, t.Past) ||
			cmp.Or(r.keys[e.Link], e.Link) != cmp.Or(r.keys[t.Link], t.Link) {
			return errPlaces
		}
		if err := cmp.Or(r.blob(ctx, e.JSON, t.JSON, true), r.blob(ctx, e.Source, t.Source, false)); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	return nil
}

func sameSignature(a, b domarkx.Signature) bool {
	return a.Name == b.Name && a.Email == b.Email && a.When.Equal(b.When)
}

// header compares two headers with their included files and originals.
func (r *reconciler) header(ctx context.Context, a, b domarkx.HeaderEntry) error {
	if err := cmp.Or(r.blob(ctx, a.JSON, b.JSON, true), r.blob(ctx, a.Source, b.Source, false)); err != nil {
		return err
	}
	if a.Includes != b.Includes {
		x, y, err := both(ctx, r.from.Includes, a.Includes, b.Includes)
		if err != nil {
			return err
		}
		if len(x) != len(y) {
			return transfer.ErrNotSame
		}
		for i := range x {
			if x[i].Path != y[i].Path {
				return transfer.ErrNotSame
			}
			if _, err := r.text(x[i].Data, y[i].Data, false); err != nil {
				return err
			}
		}
	}
	if a.Origin == b.Origin || a.Origin == "" || b.Origin == "" || !r.first(a.Origin, b.Origin) {
		return nil
	}
	return r.originals(ctx, a.Origin, b.Origin)
}

// originals compares two original documents. If both extend those that were compared last, it
// compares only the new parts.
func (r *reconciler) originals(ctx context.Context, a, b string) error {
	ours, theirs, err := both(ctx, r.from.Origin, a, b)
	if err != nil {
		return err
	}
	if ours.Format != theirs.Format {
		return transfer.ErrNotSame
	}
	x, grown, err := ours.Continues(ctx, r.last[0])
	if err != nil {
		return err
	}
	y, also, err := theirs.Continues(ctx, r.last[1])
	if err == nil && !(grown && also) {
		x, y, err = both(ctx, readOriginal, ours, theirs)
	}
	if err == nil {
		_, err = r.text(x, y, true)
	}
	if err == nil {
		r.last = [2]*original.Document{ours, theirs}
	}
	return err
}

// both returns what a function returns for our side and for theirs.
func both[K, V any](ctx context.Context, of func(context.Context, K) (V, error), ours, theirs K) (a, b V, err error) {
	if a, err = of(ctx, ours); err == nil {
		b, err = of(ctx, theirs)
	}
	return a, b, err
}

func (r *reconciler) first(a, b string) bool {
	if r.same[a+" "+b] {
		return false
	}
	r.same[a+" "+b] = true
	return true
}

// blob compares two blobs, if both sides have one, and learns the secrets that placeholders stand for.
func (r *reconciler) blob(ctx context.Context, a, b domarkx.Blob, isJSON bool) error {
	if a.ID == "" || b.ID == "" || a.ID == b.ID || !r.first(a.ID, b.ID) {
		return nil
	}
	x, y, err := both(ctx, r.from.Read, a, b)
	if err != nil {
		return err
	}
	joined, err := r.text(x, y, isJSON)
	if err == nil && string(joined) != string(y) {
		r.joined[b.ID] = joined
	}
	return err
}

// text compares two texts and returns the text without the secrets of either side. The error is
// [transfer.ErrNotSame] if they differ in more.
func (r *reconciler) text(a, b []byte, isJSON bool) ([]byte, error) {
	joined, found, ok := placeholder.Join(r.ours, r.theirs, a, b, isJSON)
	if !ok && r.accept {
		for _, l := range placeholder.Aligned(a, b) {
			r.next.Adopt(l)
		}
		return b, nil
	}
	if !ok {
		return nil, transfer.ErrNotSame
	}
	for _, l := range found {
		r.next.Adopt(l)
	}
	return joined, nil
}

// entry changes an entry of theirs: it replaces the secrets that only our side replaced.
func (r *reconciler) entry(ctx context.Context, w *rewriter, e *domarkx.Entry) error {
	text, inJSON := r.joined[e.JSON.ID]
	source, inSource := r.joined[e.Source.ID]
	if !inJSON && !inSource {
		return nil
	}
	var err error
	if !inJSON {
		if text, err = view.Read(ctx, r.from, e.JSON); err != nil {
			return err
		}
	}
	msg, err := parseMessage(text)
	if err != nil {
		return err
	}
	made, err := w.write(ctx, msg, e.Layout, source, inSource && e.Layout.Within == 0, nil)
	if err != nil {
		return err
	}
	e.JSON = made.json
	if e.Layout.Within == 0 {
		made.layout.Tight = e.Layout.Tight
		e.Source, e.Layout = made.source, made.layout
	}
	return nil
}
