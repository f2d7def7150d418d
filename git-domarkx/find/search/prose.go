package search

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
	"github.com/domarkx/domarkx/gitstore"
)

// message reads the message of a hit. ok is false if its snapshot cannot be read any more.
func (x *Index) message(ctx context.Context, h Hit) (c content.Message, ok bool) {
	e, err := x.store.Entry(ctx, h.Commit, h.K)
	if err != nil {
		return c, false
	}
	message, err := view.LoadMessage(ctx, x.store, e)
	if err == nil {
		c.Set(message)
	}
	return c, err == nil
}

// MessageIDs returns a function that returns the id of the message of a hit; "" if its snapshot cannot be read any more. It reads
// each leaf of a session once, in whatever order the hits come.
func MessageIDs(ctx context.Context, store *gitstore.Store) func(Hit) string {
	type leaf struct {
		commit string
		first  int
	}
	known := map[leaf][]domarkx.ID{}
	return func(h Hit) string {
		at := leaf{h.Commit, h.K - h.K%leafWidth}
		ids, ok := known[at]
		if !ok {
			entries, _ := store.EntriesBetween(ctx, h.Commit, at.first, at.first+leafWidth) //nolint:errcheck // without entries there are no ids
			for _, e := range entries {
				ids = append(ids, e.ID)
			}
			known[at] = ids
		}
		if h.K-at.first >= len(ids) {
			return ""
		}
		return ids[h.K-at.first].String()
	}
}

// quoteProse replaces the snippet of a hit by one of the message's own text, without calls and results, if the query matches
// there. A message that cannot be read keeps its snippet.
func (x *Index) quoteProse(ctx context.Context, h *Hit, m *matching) {
	c, _ := x.message(ctx, *h)
	s := snippets{m: m}
	if s.make(c.Prose); len(s.matches) > 0 {
		h.Snippet, h.Matches = string(s.line), slices.Clone(s.matches)
	}
}
