package gitstore

import (
	"context"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// versions reads histories of workspaces. They hold nothing but versions.
func (r reader) versions() lineage {
	return lineage{reader: r, read: func(id odb.ID) (ancestor, error) {
		c, v, _, err := r.version(id)
		if err != nil {
			return ancestor{}, err
		}
		return ancestor{id: v.ID, number: v.Number, parents: c.parents, version: v}, nil
	}}
}

// Versions yields a workspace version and all before it, by descending number and
// then by id, without their resources and the name of the workspace. In a shallow
// clone it ends where the clone does. It ends behind an error.
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

// IsEarlier reports whether workspace version a is b or one that b came from.
func (r reader) IsEarlier(ctx context.Context, a, b string) (bool, error) {
	return r.versions().isAncestor(ctx, a, b)
}
