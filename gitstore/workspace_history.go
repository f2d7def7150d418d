package gitstore

import (
	"context"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// versions returns the histories of workspaces, which consist of versions only.
func (r reader) versions() lineage {
	return lineage{reader: r, read: func(id odb.ID) (ancestor, error) {
		c, v, _, err := r.version(id)
		if err != nil {
			return ancestor{}, err
		}
		return ancestor{id: v.ID, number: v.Number, parents: c.Parents, version: v}, nil
	}}
}

// Versions yields a workspace version and its ancestors, sorted by descending number and then by id, without
// their resources and the name of the workspace. In a shallow clone it ends where the clone ends. An error
// is yielded last.
func (r reader) Versions(ctx context.Context, id string) iter.Seq2[domarkx.Version, error] {
	return func(yield func(domarkx.Version, error) bool) {
		err := r.versions().visit(ctx, id, func(a ancestor) (bool, bool) {
			more := yield(a.version, nil)
			return more, more
		})
		if err != nil {
			yield(domarkx.Version{}, err)
		}
	}
}

// IsEarlier reports whether workspace version a is b or an ancestor of b.
func (r reader) IsEarlier(ctx context.Context, a, b string) (bool, error) {
	return r.versions().isAncestor(ctx, a, b)
}
