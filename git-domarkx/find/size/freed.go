package size

import (
	"context"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Freed returns how many bytes only the files of some workspace versions need, as Git compresses them now. The versions' commits
// stay.
func Freed(ctx context.Context, store *gitstore.Store, versions []string) (int64, error) {
	g, refs, err := newGraph(ctx, store)
	if err != nil {
		return 0, err
	}
	for _, text := range versions {
		id, err := odb.ParseID(text)
		if err != nil {
			return 0, err
		}
		if at, known := g.numbers[id]; known && g.nodes[at].next > 0 {
			next := &g.next[g.nodes[at].next]
			*next = (*next)[1:] // its tree comes first; see follow
		}
	}
	for _, list := range refs {
		for _, ref := range list {
			if id, err := odb.ParseID(ref.ID); err == nil {
				g.reach(id, 0, func(*node) {})
			}
		}
	}
	freed := int64(0)
	for _, n := range g.nodes {
		if n.kind != none && !n.outside && n.seen < 0 {
			freed += n.bytes
		}
	}
	return freed, nil
}

// Objects returns the bytes of the files that hold the objects of a repository.
func Objects(store *gitstore.Store) (bytes int64, err error) {
	all, err := state(filepath.Join(store.Git().CommonDir, "objects"))
	for _, s := range all {
		bytes += s.Bytes
	}
	return bytes, err
}
