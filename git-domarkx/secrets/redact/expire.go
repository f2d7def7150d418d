package redact

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/purge"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A Policy says which workspace versions keep their files: those since a time or, if that is zero, the newest of each session.
type Policy struct {
	Before time.Time
	Newest int
}

// expires returns the versions of a session that expire by a policy, without its first and last ones. versions has the newest first.
func (p Policy) expires(versions []snapshot.CommitHead) []snapshot.CommitHead {
	if p.Before.IsZero() {
		return versions[min(len(versions), p.Newest):]
	}
	return slices.DeleteFunc(slices.Clone(versions), func(h snapshot.CommitHead) bool { return h.Version.Date >= p.Before.Unix() })
}

// Expiring is a version that expires.
type Expiring struct {
	Version domarkx.Version
	Where   string // the kind and name of a session or workspace that has it
}

// Expired describes an expiry.
type Expired struct {
	Versions  []Expiring
	Elsewhere []string     // the user's own refs that still reach versions with their files
	Purged    purge.Result // the objects that were removed
}

// Expire removes the files of old versions from the histories of all sessions and workspaces of this repository, and then from the
// disk. Each of these versions is replaced by a stub (section 12 of gitstore/SPEC.md). The replaced histories are
// not kept.
func (m *Manager) Expire(ctx context.Context, p Policy, dryRun bool) (Expired, error) {
	done, err := m.expire(ctx, p, dryRun)
	if errors.Is(err, syscall.ENOSPC) {
		// Make room with what can be made again, and with what an earlier expiry left.
		_, purged := m.store.Purge(ctx, nil, nil)
		if room := errors.Join(derived.RemoveTexts(m.env.StateDir), purged); room == nil {
			done, err = m.expire(ctx, p, dryRun)
		}
	}
	if err != nil || dryRun || !m.store.HasReplacements() {
		return done, err
	}
	live, err := m.liveVersions()
	if err != nil {
		return done, err
	}
	replaced, err := m.store.Replacements()
	if err != nil {
		return done, err
	}
	// Live workspaces need directories. Their commits would keep the whole history, and have others in their place.
	live = slices.DeleteFunc(live, func(id string) bool { return replaced[id] != "" })
	done.Purged, err = m.store.Purge(ctx, nil, live)
	return done, err
}

func (m *Manager) expire(ctx context.Context, p Policy, dryRun bool) (Expired, error) {
	var done Expired
	var of *history
	_, err := m.store.Redact(ctx, "expire versions", func(tx *gitstore.Tx) (gitstore.Redaction, error) {
		done, of = Expired{}, nil
		refs, err := m.store.References(ctx)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		g, reached, err := m.reach(ctx, refs)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		stubs, err := m.choose(ctx, g, refs, p, &done)
		if err != nil || len(stubs) == 0 || dryRun {
			return gitstore.Redaction{}, err
		}
		var start []string
		for i, ref := range refs {
			if overlaps(reached[i], stubs) {
				start = append(start, ref.Name)
			}
		}
		of = g.sharing(refs, reached, start...)
		why := &domarkx.Expiry{On: time.Now().UTC().Truncate(time.Second), Before: p.Before, Newest: p.Newest}
		expired, _, err := m.joinStubs(ctx, of, nil, "")
		if err != nil {
			return gitstore.Redaction{}, err
		}
		for _, head := range of.versions {
			if stubs[idOf(head)] {
				expired[key(head)] = why
			}
		}
		w, err := m.rewrite(ctx, tx, of, nil, nil, false, placeholder.New(nil, nil), expired)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		change := w.redaction(of)
		return change, m.finish(ctx, of, w, &change)
	})
	if err == nil && of != nil {
		done.Elsewhere, err = m.elsewhere(ctx, of)
	}
	return done, err
}

// choose returns the ids of the versions that expire: those that no session needs.
func (m *Manager) choose(ctx context.Context, g *graph, refs []refdb.Ref, p Policy, done *Expired) (map[string]bool, error) {
	all, err := m.holders(ctx, g, refs)
	if err != nil {
		return nil, err
	}
	needed, err := m.liveHeads(ctx, g)
	if err != nil {
		return nil, err
	}
	stays := map[string]bool{} // versions that expire for one session but not for another
	where := map[string]string{}
	var found []snapshot.CommitHead
	for _, h := range all {
		ends, err := m.ends(ctx, g, h)
		if err != nil {
			return nil, err
		}
		for _, end := range ends {
			needed[end] = true
		}
		if h.elsewhere {
			continue
		}
		old := p.expires(h.versions)
		for _, head := range h.versions[:len(h.versions)-len(old)] {
			stays[idOf(head)] = true
		}
		for _, head := range old {
			if _, known := where[idOf(head)]; !known {
				where[idOf(head)] = h.where
				found = append(found, head)
			}
		}
	}
	stubs := map[string]bool{}
	for _, head := range found {
		id := idOf(head)
		if head.Version.Expired == nil && !needed[key(head)] && !stays[id] {
			stubs[id] = true
			done.Versions = append(done.Versions, Expiring{head.Version, where[id]})
		}
	}
	return stubs, nil
}
