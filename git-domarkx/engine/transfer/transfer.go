// Package transfer exchanges sessions and their workspaces with remotes: fetch, pull and push. It
// merges sessions and joins workspaces that changed on both sides.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// Manager exchanges the sessions of a repository with its remotes. Its methods are safe for concurrent use.
type Manager struct {
	sessions *engine.SessionManager
	store    *gitstore.Store
	env      local.Environment
	redacted Receiver
}

// New returns a manager for the sessions in a store.
func New(sessions *engine.SessionManager, store *gitstore.Store, env local.Environment, redacted Receiver) *Manager {
	return &Manager{sessions: sessions, store: store, env: env, redacted: redacted}
}

// A Receiver combines two histories if one of them is redacted or has expired workspace versions.
type Receiver interface {
	// Receive combines a history of a remote with the local histories if only one side is redacted or has expired versions, or
	// if both differ in that. If the histories differ in more than secrets, nothing changes and the error matches
	// [ErrNotSame].
	Receive(ctx context.Context, in Incoming) (Received, error)
}

// ErrNotSame means that one history is not a redaction of the other: they differ in more than secrets and expired files.
var ErrNotSame = errors.New("the histories differ in more than secrets and expired files")

// An Incoming is a verified commit of a remote.
type Incoming struct {
	Ref      string // the tracking ref
	ID       string
	Accept   bool // do not check that the redacted history differs only in secrets
	Redacted bool // also replace a local history by a redacted one
}

// Received describes how a commit of a remote was received.
type Received struct {
	ID       string   // the received commit, or its redacted form
	Moved    bool     // the tracking ref points to ID
	Replaced bool     // local histories were replaced
	Expired  bool     // they were replaced only because workspace versions expired
	Kept     []string // refs of the replaced histories in the trash

	Others []remote.Move // of other remote-tracking refs, which had the same commits
}

// Tips maps the names of sessions and workspaces to their newest snapshots and versions, or to a status.
type Tips struct{ Sessions, Workspaces map[string]string }

func newTips() Tips { return Tips{map[string]string{}, map[string]string{}} }

// set sets the value for a shared reference.
func (t Tips) set(ref, value string) {
	if kind, name := refname.Of(ref); kind == refname.Workspaces {
		t.Workspaces[name] = value
	} else {
		t.Sessions[name] = value
	}
}

// ids returns the ids of all tips, but not those of removed ones, which are empty.
func (t Tips) ids() []string {
	ids := slices.AppendSeq(slices.Collect(maps.Values(t.Sessions)), maps.Values(t.Workspaces))
	return slices.DeleteFunc(ids, func(id string) bool { return id == "" })
}

// here returns the tips of this repository. It omits sessions and workspaces that cannot be read.
func (m *Manager) here(ctx context.Context) (Tips, error) {
	tips := newTips()
	sessions, err := m.store.List(ctx)
	if sessions == nil && err != nil {
		return tips, err
	}
	for _, info := range sessions {
		tips.Sessions[info.Name] = info.ID
	}
	workspaces, err := m.store.Workspaces(ctx)
	if workspaces == nil && err != nil {
		return tips, err
	}
	for _, v := range workspaces {
		tips.Workspaces[v.Workspace] = v.ID
	}
	return tips, nil
}

// peers finds the workspaces to transfer with sessions: those with the name of a session,
// those assigned to a session, and those whose versions its messages link.
type peers struct {
	m        *Manager
	assigned map[string]string // session → its workspace, if that has another name
	tips     Tips              // of all sessions, also those that are not transferred, and of the workspaces that can be
	known    []string          // commits whose versions are already on the other side
}

// of returns the workspaces by session. Each workspace belongs to only one session.
func (c peers) of(ctx context.Context, sessions map[string]string) (map[string][]string, error) {
	going := map[string][]string{}
	taken := map[string]bool{}
	var tips []string
	known := slices.Clone(c.known)
	names := slices.Sorted(maps.Keys(sessions))
	take := func(session, workspace string) {
		if workspace != "" && !taken[workspace] {
			taken[workspace] = true
			going[session] = append(going[session], workspace)
			if id := c.tips.Workspaces[workspace]; id != "" {
				known = append(known, id)
			}
		}
	}
	for _, name := range names {
		take(name, name)
		if id := sessions[name]; id != "" {
			tips = append(tips, id)
		}
	}
	for _, name := range names {
		take(name, c.assigned[name])
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(c.tips.Workspaces)), func(w string) bool { return taken[w] })
	slices.SortStableFunc(others, func(a, b string) int { // consider workspaces named like a session last
		return cmp.Compare(len(c.tips.Sessions[a]), len(c.tips.Sessions[b]))
	})
	for _, workspace := range others {
		linked, err := c.m.store.NewVersions(ctx, tips, known)
		if err != nil || len(linked) == 0 {
			return going, err
		}
		has, err := c.m.store.NewVersions(ctx, []string{c.tips.Workspaces[workspace]}, known)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(has, func(id string) bool { return slices.Contains(linked, id) }) {
			take(names[0], workspace)
		}
	}
	return going, nil
}
