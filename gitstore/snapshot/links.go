package snapshot

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/gitstore/codec"
)

// LinkedVersions returns the ids of the workspace versions that are parents of a snapshot, in order.
func (r Reader) LinkedVersions(_ context.Context, snapshot string) ([]string, error) {
	c, _, err := r.snapshot(snapshot)
	if err != nil {
		return nil, err
	}
	var linked []string
	for _, id := range c.Parents {
		_, _, _, err := r.version(id.String())
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
	search := cmp.Or(r.links, &linkSearch{})
	for _, version := range versions {
		if !r.IsVersion(version) {
			continue
		}
		id := strings.ToLower(version)
		found, err := search.finds(ctx, r.snapshots(), snapshot, id)
		if err != nil {
			return nil, err
		}
		if found {
			linked[id] = true
		}
	}
	return linked, nil
}

// IsVersion reports whether an object is a workspace version that can be read.
func (r Reader) IsVersion(id string) bool {
	_, _, _, err := r.version(id)
	return err == nil
}

// A linkSearch is a search for links in the history of a snapshot, which begins with the newest commits. The one of a [Reader] goes on
// while it is asked for the same snapshot, so that reading all messages of a session searches its history once.
type linkSearch struct {
	mu       sync.Mutex
	snapshot string
	walk     *historyWalk
	parents  map[string]bool // of the snapshots that were visited
}

// finds reports whether a commit, which is not a snapshot, is a parent of a snapshot in the history.
func (s *linkSearch) finds(ctx context.Context, line lineage, snapshot, id string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.walk == nil || s.snapshot != snapshot {
		walk, err := line.begin(snapshot)
		if err != nil {
			return false, err
		}
		s.snapshot, s.walk, s.parents = snapshot, walk, map[string]bool{}
	}
	for !s.parents[id] {
		a, ok := s.walk.next()
		if err := ctx.Err(); err != nil || !ok {
			return false, err
		}
		if err := s.walk.leave(a, true); err != nil {
			return false, err
		}
		for _, p := range a.parents {
			s.parents[p] = true
		}
	}
	return true, nil
}
