package snapshot

import (
	"context"
	"errors"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// LinkedVersions returns the ids of the workspace versions that are parents of a snapshot, in order.
func (r Reader) LinkedVersions(_ context.Context, snapshot string) ([]string, error) {
	c, _, err := r.snapshot(snapshot)
	if err != nil {
		return nil, err
	}
	var linked []string
	for _, id := range c.Parents {
		_, _, _, err := r.version(id)
		if errors.Is(err, codec.ErrNoVersion) {
			continue
		}
		if err != nil {
			return nil, err
		}
		linked = append(linked, id.String())
	}
	return linked, nil
}

// Linked returns those of the given versions that are parents of a snapshot or of one of its ancestors. Only these are
// valid links: a message can contain any id. Linked reads only as much of the history as necessary, and caches it.
func (r Reader) Linked(ctx context.Context, snapshot string, versions []string) (map[string]bool, error) {
	linked := map[string]bool{}
	var walk *linkWalk
	for _, version := range versions {
		id, err := odb.ParseID(version)
		if err != nil || !r.IsVersion(id) {
			continue
		}
		if walk == nil {
			walk = r.links.of(snapshot)
		}
		if found, err := walk.reaches(ctx, r.snapshots(), id); err != nil {
			return nil, err
		} else if found {
			linked[id.String()] = true
		}
	}
	return linked, nil
}

// IsVersion reports whether an object is a workspace version that can be read.
func (r Reader) IsVersion(id odb.ID) bool {
	_, _, _, err := r.version(id)
	return err == nil
}

// linkWalks contains the last search for links in the history of a snapshot, so that reading all messages of a
// session searches its history once and not for each message.
type linkWalks struct {
	mu   sync.Mutex
	last *linkWalk
}

// of returns the search in the history of a snapshot. If w is nil, it always returns a new one.
func (l *linkWalks) of(snapshot string) *linkWalk {
	if l == nil {
		return &linkWalk{snapshot: snapshot}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.snapshot != snapshot {
		l.last = &linkWalk{snapshot: snapshot}
	}
	return l.last
}

// A linkWalk is a search for links in the history of a snapshot, which begins with the newest commits.
type linkWalk struct {
	snapshot string

	mu      sync.Mutex
	begun   bool
	queue   newest          // snapshots whose parents are not visited yet
	seen    map[odb.ID]bool // snapshots that are in the queue or were
	parents map[odb.ID]bool // parents of visited snapshots that are not snapshots
}

// reaches reports whether a commit, which is not a snapshot, is a parent of a snapshot in the history.
func (w *linkWalk) reaches(ctx context.Context, line lineage, id odb.ID) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		first, err := line.at(w.snapshot)
		if err != nil {
			return false, err
		}
		w.begun, w.queue, w.seen, w.parents = true, newest{first}, map[odb.ID]bool{}, map[odb.ID]bool{}
	}
	for !w.parents[id] && len(w.queue) > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if err := w.step(line, w.queue[len(w.queue)-1]); err != nil {
			return false, err
		}
	}
	return w.parents[id], nil
}

// step visits the parents of a, the last snapshot in the queue.
func (w *linkWalk) step(line lineage, a ancestor) error {
	var before []ancestor
	for _, id := range a.parents {
		if w.seen[id] || w.parents[id] {
			continue
		}
		p, err := line.read(id)
		switch {
		case errors.Is(err, codec.ErrNoSnapshot):
			w.parents[id] = true
			continue
		case errors.Is(err, domarkx.ErrNotFound):
			if cut, e := line.isShallow(a.id); e != nil || !cut {
				return errors.Join(err, e)
			}
			continue
		case err != nil:
			return err
		}
		w.seen[id] = true
		p.info = domarkx.Info{} // the subjects are not needed, and may be long
		before = append(before, p)
	}
	w.queue.pop()
	for _, p := range before {
		w.queue.push(p)
	}
	return nil
}
