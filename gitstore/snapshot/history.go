package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// An ancestor is a commit in a history: a snapshot or a workspace version.
type ancestor struct {
	id      string
	number  int
	parents []string // ids of its parents; for a snapshot, these include the linked versions

	info    domarkx.Info    // for a snapshot; without the session's name
	version domarkx.Version // for a version; without resources and the workspace's name
}

// A lineage reads the histories of snapshots, or those of workspace versions.
type lineage struct {
	Reader
	read  func(id string) (ancestor, error)
	other error // the error of read for a parent that does not belong to the history
}

// snapshots returns the lineage of snapshots.
func (r Reader) snapshots() lineage {
	return lineage{r, func(id string) (ancestor, error) {
		c, info, err := r.snapshot(id)
		if err != nil {
			return ancestor{}, err
		}
		return ancestor{id: info.ID, number: info.Number, parents: idStrings(c.Parents), info: info}, nil
	}, codec.ErrNoSnapshot}
}

// before returns the parents of a commit that belong to the history, in order, but not more than limit (-1 for all). It
// skips parents that a shallow clone does not have.
func (l lineage) before(a ancestor, limit int) ([]ancestor, error) {
	var all []ancestor
	for _, id := range a.parents {
		if len(all) == limit {
			break
		}
		p, err := l.read(id)
		switch {
		case l.other != nil && errors.Is(err, l.other):
			continue
		case errors.Is(err, domarkx.ErrNotFound):
			cut, e := l.isShallow(a.id)
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

// isShallow reports whether a commit is at the boundary of a shallow clone, which does not have its parents
// (gitrepository-layout(5), "shallow").
func (r Reader) isShallow(id string) (bool, error) {
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

// History yields a snapshot, its first parent, the first parent of that and so on. In a shallow clone it ends where the
// clone ends. If a commit cannot be read, it yields the error last.
func (r Reader) History(ctx context.Context, id string) iter.Seq2[domarkx.Info, error] {
	return func(yield func(domarkx.Info, error) bool) {
		line := r.snapshots()
		next, err := line.read(id)
		for {
			if err = errors.Join(err, ctx.Err()); err != nil {
				yield(domarkx.Info{}, err)
				return
			}
			if !yield(next.info, nil) {
				return
			}
			var before []ancestor
			if before, err = line.before(next, 1); err == nil && len(before) == 0 {
				return
			}
			if err == nil {
				next = before[0]
			}
		}
	}
}

// Ancestors yields a snapshot and all its ancestors, sorted by descending number and then by id. If a commit cannot be
// read, it yields the error last.
func (r Reader) Ancestors(ctx context.Context, id string) iter.Seq2[domarkx.Info, error] {
	return all(ctx, r.snapshots(), id, func(a ancestor) domarkx.Info { return a.info })
}

// all yields what commit returns for a commit and for its ancestors.
func all[T any](ctx context.Context, l lineage, id string, commit func(ancestor) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := l.visit(ctx, id, func(a ancestor) (bool, bool) {
			more := yield(commit(a), nil)
			return more, more
		})
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// visit calls f with a commit and its ancestors, sorted by descending number and then by id. f returns whether to
// continue, and whether to visit the commit's parents.
func (l lineage) visit(ctx context.Context, id string, f func(ancestor) (more, parents bool)) error {
	w, err := l.begin(id)
	if err != nil {
		return err
	}
	for {
		a, ok := w.next()
		if err := ctx.Err(); err != nil || !ok {
			return err
		}
		more, parents := f(a)
		if !more {
			return nil
		}
		if err := w.leave(a, parents); err != nil {
			return err
		}
	}
}

// A historyWalk visits a commit and its ancestors, sorted by descending number and then by id.
type historyWalk struct {
	lineage
	queue  []ancestor      // the last one has the highest number, or of several such commits the smallest id
	queued map[string]bool // those that are in the queue or were
}

func (l lineage) begin(id string) (*historyWalk, error) {
	first, err := l.read(id)
	if err != nil {
		return nil, err
	}
	return &historyWalk{l, []ancestor{first}, map[string]bool{first.id: true}}, nil
}

// next returns the commit to visit, which is the same until [historyWalk.leave] is called; false if all were visited.
func (w *historyWalk) next() (ancestor, bool) {
	if len(w.queue) == 0 {
		return ancestor{}, false
	}
	return w.queue[len(w.queue)-1], true
}

// leave goes on to the next commit, and adds the parents of the present one to the queue if they are to be visited.
func (w *historyWalk) leave(a ancestor, parents bool) error {
	var before []ancestor
	if parents {
		var err error
		if before, err = w.before(a, -1); err != nil {
			return err
		}
	}
	w.queue = w.queue[:len(w.queue)-1]
	for _, p := range before {
		if w.queued[p.id] {
			continue
		}
		w.queued[p.id] = true
		i, _ := slices.BinarySearchFunc(w.queue, p, func(x, y ancestor) int {
			return cmp.Or(cmp.Compare(x.number, y.number), cmp.Compare(y.id, x.id))
		})
		w.queue = slices.Insert(w.queue, i, p)
	}
	return nil
}

// IsAncestor reports whether snapshot a is b or an ancestor of b.
func (r Reader) IsAncestor(ctx context.Context, a, b string) (bool, error) {
	return r.snapshots().isAncestor(ctx, a, b)
}

func (l lineage) isAncestor(ctx context.Context, a, b string) (bool, error) {
	old, err := l.read(a)
	if err != nil {
		return false, err
	}
	found := false
	err = l.visit(ctx, b, func(n ancestor) (bool, bool) {
		found = n.id == old.id || slices.Contains(n.parents, old.id)
		return !found, n.number > old.number
	})
	return found, err
}

// SnapshotAmong returns the candidate that is tip or an ancestor of tip. Candidates are ids of any objects. It returns
// [domarkx.ErrNotFound] if none is such a snapshot, and [domarkx.ErrInvalid] if several are.
func (r Reader) SnapshotAmong(ctx context.Context, tip string, candidates []string) (domarkx.Info, error) {
	found, err := r.snapshots().among(ctx, tip, candidates)
	return found.info, err
}

// VersionAmong is like [Reader.SnapshotAmong], but for workspace versions. The result has its resources.
func (r Reader) VersionAmong(ctx context.Context, tip string, candidates []string) (domarkx.Version, error) {
	found, err := r.versions().among(ctx, tip, candidates)
	if err != nil {
		return domarkx.Version{}, err
	}
	return r.Version(ctx, found.id)
}

// among does the work of SnapshotAmong and VersionAmong.
func (l lineage) among(ctx context.Context, tip string, candidates []string) (ancestor, error) {
	var found []ancestor
	for _, id := range candidates {
		a, err := l.read(id)
		if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrCorrupt) {
			continue // another kind of object
		}
		if err != nil {
			return ancestor{}, err
		}
		if ok, err := l.isAncestor(ctx, id, tip); err != nil {
			return ancestor{}, err
		} else if ok {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return ancestor{}, domarkx.ErrNotFound
	case 1:
		return found[0], nil
	}
	return ancestor{}, fmt.Errorf("%w, it could be any of %d, give more digits", domarkx.ErrInvalid, len(found))
}
