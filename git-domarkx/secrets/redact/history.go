package redact

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A history holds the snapshots and workspace versions that a set of refs reaches.
type history struct {
	refs      []refdb.Ref           // the refs that reach them
	snapshots []snapshot.CommitHead // sorted by number, then by id, so that parents precede their children
	versions  []snapshot.CommitHead
	local     map[string]bool // commits that refs reach which are not those of remotes
}

// A graph holds all commits that a set of refs reaches, with parents before their children in
// order.
type graph struct {
	heads map[string]snapshot.CommitHead
	order []string
}

func (m *Manager) graph(ctx context.Context, tips []string) (*graph, error) {
	ids, err := m.store.Commits(ctx, tips, nil)
	if err != nil {
		return nil, err
	}
	g := &graph{heads: make(map[string]snapshot.CommitHead, len(ids)), order: ids}
	for _, id := range ids {
		head, err := m.store.Head(ctx, id)
		if err != nil {
			return nil, err
		}
		g.heads[id] = head
	}
	return g, nil
}

func idOf(h snapshot.CommitHead) string {
	if h.IsVersion {
		return h.Version.ID
	}
	return h.Info.ID
}

func numberOf(h snapshot.CommitHead) int {
	if h.IsVersion {
		return h.Version.Number
	}
	return h.Info.Number
}

// ordered returns commits sorted by number, then by id.
func ordered(lists ...[]snapshot.CommitHead) []snapshot.CommitHead {
	return slices.SortedFunc(slices.Values(slices.Concat(lists...)), func(a, b snapshot.CommitHead) int {
		return cmp.Or(cmp.Compare(numberOf(a), numberOf(b)), cmp.Compare(idOf(a), idOf(b)))
	})
}

// divided returns the snapshots and the workspace versions among commits.
func divided(commits []snapshot.CommitHead) (snapshots, versions []snapshot.CommitHead) {
	for _, h := range commits {
		if h.IsVersion {
			versions = append(versions, h)
		} else {
			snapshots = append(snapshots, h)
		}
	}
	return snapshots, versions
}

// below adds a commit and its ancestors to seen.
func (g *graph) below(id string, seen map[string]bool) {
	queue := []string{id}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		queue = append(queue, g.heads[id].Parents...)
	}
}

// sharing returns the history of a session and of all refs that share a commit with it, directly or through other refs.
func (m *Manager) sharing(ctx context.Context, session string) (*history, error) {
	refs, err := m.store.References(ctx)
	if err != nil {
		return nil, err
	}
	g, reached, err := m.reach(ctx, refs)
	if err != nil {
		return nil, err
	}
	return g.sharing(refs, reached, refname.Sessions.Ref(session)), nil
}

// reach returns the graph of refs, and the commits that each of them reaches.
func (m *Manager) reach(ctx context.Context, refs []refdb.Ref) (*graph, []map[string]bool, error) {
	tips := make([]string, len(refs))
	for i, ref := range refs {
		tips[i] = ref.ID
	}
	g, err := m.graph(ctx, tips)
	if err != nil {
		return nil, nil, err
	}
	reached := make([]map[string]bool, len(refs))
	for i, ref := range refs {
		reached[i] = map[string]bool{}
		g.below(ref.ID, reached[i])
	}
	return g, reached, nil
}

// sharing returns the history of the refs named in start and of all refs that share a commit with
// them, directly or through other refs.
func (g *graph) sharing(refs []refdb.Ref, reached []map[string]bool, start ...string) *history {
	in, all := make([]bool, len(refs)), map[string]bool{} // which refs, and which commits
	for grown := true; grown; {
		grown = false
		for i, ref := range refs {
			if in[i] || !slices.Contains(start, ref.Name) && !overlaps(reached[i], all) {
				continue
			}
			in[i], grown = true, true
			for id := range reached[i] {
				all[id] = true
			}
		}
	}
	h := &history{local: map[string]bool{}}
	for i, ref := range refs {
		if !in[i] {
			continue
		}
		h.refs = append(h.refs, ref)
		if isLocal(ref.Name) {
			maps.Copy(h.local, reached[i])
		}
	}
	var heads []snapshot.CommitHead
	for id := range all {
		heads = append(heads, g.heads[id])
	}
	h.snapshots, h.versions = divided(ordered(heads)) // in the order in which their secrets are numbered
	return h
}

func overlaps(a, b map[string]bool) bool {
	for id := range a {
		if b[id] {
			return true
		}
	}
	return false
}

func (h *history) sessions() map[string]bool {
	all := map[string]bool{}
	for _, ref := range h.refs {
		if k, name := refname.Of(ref.Name); k == refname.Sessions {
			all[name] = true
		}
	}
	return all
}

// names returns the sessions and workspaces of a history, including those in the trash.
func (h *history) names() []Shared {
	var all []Shared
	for _, ref := range h.refs {
		k, name := refname.Of(ref.Name)
		if k.Prefix == "" {
			continue
		}
		name, _, removed := strings.Cut(name, "@")
		all = append(all, Shared{Kind: k.Noun, Name: name, Removed: removed})
	}
	return all
}
