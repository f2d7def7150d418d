package search

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
)

// quoteProse replaces the snippet of a hit by one of the message's own text, without calls and results, if the query matches
// there. A message that cannot be read keeps its snippet.
func (x *Index) quoteProse(ctx context.Context, h *Hit, m *matching) {
	e, err := x.store.Entry(ctx, h.Commit, h.K)
	if err != nil {
		return
	}
	message, err := view.LoadMessage(ctx, x.store, e)
	if err != nil {
		return
	}
	var c content.Message
	c.Set(message)
	s := snippets{m: m}
	if s.make(c.Prose); len(s.matches) > 0 {
		h.Snippet, h.Matches = string(s.line), slices.Clone(s.matches)
	}
}
