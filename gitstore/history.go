package gitstore

import (
	"container/heap"
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A node of the history: a snapshot and what it continues.
type ancestor struct {
	info    domarkx.Info
	parents []odb.ID // snapshots and workspace versions
}

func (r reader) ancestor(id odb.ID) (ancestor, error) {
	c, info, err := r.snapshot(id.String())
	if err != nil {
		return ancestor{}, err
	}
	return ancestor{info, c.parents}, nil
}

// before returns the snapshots that a snapshot continues, in order, at most so
// many (all of them for -1). Those that a shallow clone left out are none.
func (r reader) before(a ancestor, limit int) ([]ancestor, error) {
	var all []ancestor
	for _, id := range a.parents {
		if len(all) == limit {
			break
		}
		p, err := r.ancestor(id)
		switch {
		case errors.Is(err, errNoSnapshot):
			continue
		case errors.Is(err, domarkx.ErrNotFound):
			cut, e := r.isShallow(a.info.ID)
			if e != nil {
				return nil, e
			}
			if cut {
				continue
			}
			return nil, err
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// isShallow reports whether the parents of a commit were left out on purpose
// (gitrepository-layout(5), "shallow").
func (r reader) isShallow(id string) (bool, error) {
	list, err := os.ReadFile(r.shallow)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(string(list)) {
		if strings.TrimSpace(line) == id {
			return true, nil
		}
	}
	return false, nil
}

// History yields a snapshot and those that it came from by their first parents,
// the newest first. In a shallow clone it ends where the clone does. It ends
// behind an error.
func (r reader) History(ctx context.Context, id string) iter.Seq2[domarkx.Info, error] {
	return func(yield func(domarkx.Info, error) bool) {
		oid, err := odb.ParseID(id)
		if err != nil {
			yield(domarkx.Info{}, err)
			return
		}
		next, err := r.ancestor(oid)
		for {
			if err = errors.Join(err, ctx.Err()); err != nil {
				yield(domarkx.Info{}, err)
				return
			}
			if !yield(next.info, nil) {
				return
			}
			var before []ancestor
			if before, err = r.before(next, 1); err == nil && len(before) == 0 {
				return
			}
			if err == nil {
				next = before[0]
			}
		}
	}
}

// Ancestors yields a snapshot and all that it came from, also by merges, by
// descending number and then by id. It ends behind an error.
func (r reader) Ancestors(ctx context.Context, id string) iter.Seq2[domarkx.Info, error] {
	return func(yield func(domarkx.Info, error) bool) {
		err := r.visit(ctx, id, func(a ancestor) (bool, bool) {
			more := yield(a.info, nil)
			return more, more
		})
		if err != nil {
			yield(domarkx.Info{}, err)
		}
	}
}

// visit calls f with a snapshot and its ancestors, by descending number and then
// by id. f says whether to go on, and whether into the parents.
func (r reader) visit(ctx context.Context, id string, f func(ancestor) (more, parents bool)) error {
	oid, err := odb.ParseID(id)
	if err != nil {
		return err
	}
	first, err := r.ancestor(oid)
	if err != nil {
		return err
	}
	queue := &newest{first}
	queued := map[string]bool{first.info.ID: true}
	for queue.Len() > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		a := heap.Pop(queue).(ancestor)
		more, parents := f(a)
		if !more {
			return nil
		}
		if !parents {
			continue
		}
		before, err := r.before(a, -1)
		if err != nil {
			return err
		}
		for _, p := range before {
			if !queued[p.info.ID] {
				queued[p.info.ID] = true
				heap.Push(queue, p)
			}
		}
	}
	return nil
}

// IsAncestor reports whether snapshot a is b or one that b came from.
func (r reader) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	old, err := r.Info(ctx, a)
	if err != nil {
		return false, err
	}
	found := false
	err = r.visit(ctx, b, func(n ancestor) (bool, bool) {
		found = n.info.ID == old.ID
		for _, p := range n.parents {
			found = found || p.String() == old.ID
		}
		return !found, n.info.Number > old.Number
	})
	return found, err
}

// newest is a heap of snapshots, the greatest number on top.
type newest []ancestor

func (q newest) Len() int { return len(q) }
func (q newest) Less(i, j int) bool {
	if q[i].info.Number != q[j].info.Number {
		return q[i].info.Number > q[j].info.Number
	}
	return q[i].info.ID < q[j].info.ID
}
func (q newest) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *newest) Push(x any)   { *q = append(*q, x.(ancestor)) }
func (q *newest) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
