package search

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// IDs looks up the ids of messages that were found. It remembers those of the neighbors of a message, so that each leaf of a
// session is read once, in whatever order the hits come.
type IDs struct {
	store *gitstore.Store
	known map[leafPlace][]domarkx.ID
}

// A leafPlace is a leaf of a snapshot.
type leafPlace struct {
	commit string
	number int
}

// NewIDs returns an IDs without any id.
func NewIDs(store *gitstore.Store) *IDs {
	return &IDs{store, map[leafPlace][]domarkx.ID{}}
}

// Of returns the id of the message of a hit; "" if its snapshot cannot be read any more.
func (i *IDs) Of(ctx context.Context, h Hit) string {
	place := leafPlace{h.Commit, h.K / leafWidth}
	ids, ok := i.known[place]
	if !ok {
		first := place.number * leafWidth
		entries, _ := i.store.EntriesBetween(ctx, h.Commit, first, first+leafWidth) //nolint:errcheck // without entries there are no ids
		for _, e := range entries {
			ids = append(ids, e.ID)
		}
		i.known[place] = ids
	}
	if k := h.K % leafWidth; k < len(ids) {
		return ids[k].String()
	}
	return ""
}
