package redact

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

func sameExpiry(a, b *domarkx.Expiry) bool {
	return a == b || a != nil && b != nil && codec.ExpiryText(a) == codec.ExpiryText(b)
}

// stubsOf returns why versions have no files, by their keys. Of several reasons for one version, every clone takes the same.
func stubsOf(versions []snapshot.CommitHead) map[string]*domarkx.Expiry {
	stubs := map[string]*domarkx.Expiry{}
	for _, head := range versions {
		was, now := stubs[key(head)], head.Version.Expired
		if now != nil && (was == nil || codec.ExpiryText(now) < codec.ExpiryText(was)) {
			stubs[key(head)] = now
		}
	}
	return stubs
}

// A holder is a session with the workspace in which it works, or a workspace alone.
type holder struct {
	removed   bool // in the trash
	elsewhere bool // at a remote
	where     string
	tips      []string
	versions  []snapshot.CommitHead // all that the tips reach, the newest first
}

// holders returns the sessions and workspaces among refs, those in the trash too, and those at remotes that have no local one of
// their name: they may be pulled later.
func (m *Manager) holders(ctx context.Context, g *graph, refs []refdb.Ref) ([]*holder, error) {
	attached, err := local.Attached(ctx, m.env.Local)
	if err != nil {
		return nil, err
	}
	all := map[string]*holder{}
	add := func(of string, k refname.Kind, id string) {
		h := all[of]
		if h == nil {
			name, _, removed := strings.Cut(of, "@")
			h = &holder{removed: removed, where: k.Noun + " " + name}
			all[of] = h
		}
		h.tips = append(h.tips, id)
	}
	for _, k := range refname.Kinds { // sessions first
		for _, ref := range refs {
			of, name := refname.Of(ref.Name)
			if of.Noun != k.Noun {
				continue
			}
			add(name, k, ref.ID)
			for session, workspace := range attached {
				if workspace == name && k == refname.Workspaces && all[session] != nil {
					add(session, k, ref.ID)
				}
			}
		}
	}
	here := maps.Clone(all)
	for _, k := range refname.Kinds {
		for _, ref := range refs {
			remote, name, ok := strings.Cut(strings.TrimPrefix(ref.Name, refname.RemotePrefix), strings.TrimPrefix(k.Prefix, "refs/domarkx"))
			if ok && strings.HasPrefix(ref.Name, refname.RemotePrefix) && here[name] == nil {
				add("/"+remote+"/"+name, k, ref.ID)
				all["/"+remote+"/"+name].elsewhere = true
			}
		}
	}
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b *holder) int { return cmp.Compare(a.where, b.where) })
	for _, h := range list {
		h.versions = g.versionsBelow(h.tips...)
	}
	return list, nil
}

// versionsBelow returns the versions that commits reach, the newest first.
func (g *graph) versionsBelow(tips ...string) []snapshot.CommitHead {
	reached := map[string]bool{}
	for _, id := range tips {
		g.below(id, reached)
	}
	var list []snapshot.CommitHead
	for id := range reached {
		if head := g.heads[id]; head.IsVersion {
			list = append(list, head)
		}
	}
	slices.SortFunc(list, func(a, b snapshot.CommitHead) int {
		return cmp.Or(cmp.Compare(b.Version.Date, a.Version.Date), cmp.Compare(b.Version.Number, a.Version.Number), cmp.Compare(idOf(b), idOf(a)))
	})
	return list
}

// ends returns the keys of a holder's first and last versions: those without a version before or after them, the newest of the
// workspace, which a version that the session links can follow, and those that the first and the last linked message link.
func (m *Manager) ends(ctx context.Context, g *graph, h *holder) ([]string, error) {
	var ends []string
	before := map[string]bool{}
	for _, head := range h.versions {
		for _, id := range head.Parents {
			before[id] = true
		}
	}
	for _, head := range h.versions {
		if !before[idOf(head)] || len(head.Parents) == 0 {
			ends = append(ends, key(head))
		}
	}
	for _, id := range h.tips {
		if head := g.heads[id]; head.IsVersion {
			ends = append(ends, key(head))
			continue
		}
		if len(h.versions) == 0 {
			continue
		}
		state, err := m.store.LoadPacked(ctx, id)
		if err != nil {
			return nil, err
		}
		var linked []string
		for k := range state.Live.Len() {
			if head, ok := g.heads[state.Live.At(k).Link]; ok && head.IsVersion {
				linked = append(linked, key(head))
			}
		}
		if len(linked) > 0 {
			ends = append(ends, linked[0], linked[len(linked)-1])
		}
	}
	return ends, nil
}

// liveHeads returns the keys of the versions from which live workspaces derive.
func (m *Manager) liveHeads(ctx context.Context, g *graph) (map[string]bool, error) {
	ids, err := m.liveVersions()
	keys := map[string]bool{}
	for _, id := range ids {
		if _, used := g.heads[id]; !used {
			var e error
			if id, e = m.sessions.InPlaceOf(ctx, id, "", nil); e != nil {
				return nil, e
			}
		}
		if head, ok := g.heads[id]; ok && head.IsVersion {
			keys[key(head)] = true
		}
	}
	return keys, err
}

// joinStubs returns which versions of a history have no files any more, by their keys, with those of a remote's history whose
// newest commit is tip, if it is not "": those that have none in one of their forms, but for the first and last versions of the
// sessions. keep reports whether the trash or a live
// workspace needs files that the history then lacks.
func (m *Manager) joinStubs(ctx context.Context, h *history, theirs []snapshot.CommitHead, tip string) (stubs map[string]*domarkx.Expiry, keep bool, err error) {
	_, theirVersions := divided(theirs)
	stubs = stubsOf(slices.Concat(h.versions, theirVersions))
	if len(stubs) == 0 {
		return stubs, false, nil
	}
	g := &graph{heads: map[string]snapshot.CommitHead{}}
	full := map[string]bool{}
	for _, head := range slices.Concat(h.snapshots, h.versions, theirs) {
		g.heads[idOf(head)] = head
		full[key(head)] = full[key(head)] || head.IsVersion && head.Version.Expired == nil
	}
	all, err := m.holders(ctx, g, h.refs)
	if err != nil {
		return nil, false, err
	}
	if tip != "" {
		all = append(all, &holder{tips: []string{tip}, versions: g.versionsBelow(tip)})
	}
	wanted, err := m.liveHeads(ctx, g)
	if err != nil {
		return nil, false, err
	}
	for _, one := range all {
		ends, err := m.ends(ctx, g, one)
		if err != nil {
			return nil, false, err
		}
		for _, end := range ends {
			if one.removed {
				wanted[end] = true
			} else if full[end] {
				delete(stubs, end)
			}
		}
	}
	for k := range wanted {
		keep = keep || stubs[k] != nil && full[k]
	}
	return stubs, keep, nil
}

// isPlain reports whether no commit was redacted: then the forms of each differ only in ids and in what expired.
func isPlain(lists ...[]snapshot.CommitHead) bool {
	return !slices.ContainsFunc(slices.Concat(lists...), func(head snapshot.CommitHead) bool { return head.Info.IsRedacted() || head.Version.IsRedacted() })
}
