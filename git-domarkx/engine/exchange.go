package engine

import (
	"context"
	"io"
	"maps"
	"slices"
)

// Remotes exchanges sessions and workspaces with other repositories.
type Remotes interface {
	// Fetch brings what the remote has, verifies it, and returns the tips before and after.
	Fetch(ctx context.Context, remote string, r FetchRequest) (Fetched, error)
	// Tracked returns the tips that the remote had when it was last heard of.
	Tracked(ctx context.Context, remote string) (Tips, error)
	// Push sends the tips (an empty one is removed there), all or none, where the remote
	// still has what it was last heard to have, and returns a status for each.
	Push(ctx context.Context, remote string, tips Tips, progress io.Writer) (Tips, error)
}

// A FetchRequest says what to fetch.
type FetchRequest struct {
	// Of these alone; none: all. Of a session the workspace whose newest version one of
	// its messages is linked to comes too.
	Sessions, Workspaces []string

	Checks   DocumentChecks // that what comes has to pass
	Progress io.Writer      // gets the progress of Git; nil: nobody
}

// Fetched is what a remote has.
type Fetched struct {
	Before, After Tips // as far as it was verified
	// Rejected are the sessions and workspaces of which the remote has something that was
	// not taken in, and why.
	Rejected Rejected
}

// Rejected are sessions and workspaces, and what is wrong with them.
type Rejected struct{ Sessions, Workspaces map[string]error }

// of returns what is wrong with a session or with one of its workspaces.
func (r Rejected) of(session string, workspaces ...string) error {
	if err := r.Sessions[session]; err != nil {
		return err
	}
	for _, workspace := range append([]string{session}, workspaces...) {
		if err := r.Workspaces[workspace]; err != nil {
			return err
		}
	}
	return nil
}

// Tips are the newest snapshots of sessions and the newest versions of workspaces,
// by name, or what is said of each of these.
type Tips struct{ Sessions, Workspaces map[string]string }

// UpToDate is the status of a session about which there was nothing to do.
const UpToDate = "up to date"

// Held is the status of a session that was not sent, as not all could be.
const Held = "rejected: not sent, for another session or workspace was rejected"

// An Exchange is what became of one session, with its workspace, in a push, fetch or
// pull.
type Exchange struct {
	Name   string
	Status string // one word or a few; begins with "rejected" when nothing was sent
	Failed bool
}

// Fetch brings what a remote has without changing a session here. Without names
// it reports all sessions.
func (m *SessionManager) Fetch(ctx context.Context, remote string, names []string, progress io.Writer) ([]Exchange, error) {
	fetched, err := m.fetch(ctx, remote, names, progress)
	if err != nil {
		return nil, err
	}
	before, after := fetched.Before, fetched.After
	var all []Exchange
	for _, name := range fetched.chosen(names) {
		old, now := before.Sessions[name], after.Sessions[name]
		status := UpToDate
		switch bad := fetched.Rejected.of(name); {
		case bad != nil:
			all = append(all, rejected(name, bad))
			continue
		case now == "" && old == "":
			all = append(all, Exchange{name, notThere, true})
			continue
		case now == "":
			status = "removed there"
		case old == "":
			status = "new"
		case old != now, before.Workspaces[name] != after.Workspaces[name]:
			status = "updated"
		}
		all = append(all, Exchange{Name: name, Status: status})
	}
	return all, m.rememberRemoved(remote, before, after)
}

// fetch brings sessions, without names all, and the workspaces that go with them.
func (m *SessionManager) fetch(ctx context.Context, remote string, names []string, progress io.Writer) (Fetched, error) {
	r := FetchRequest{Sessions: names, Checks: DocumentChecks{m}, Progress: progress}
	if len(names) > 0 {
		assigned, err := m.Attached(ctx)
		if err != nil {
			return Fetched{}, err
		}
		for _, name := range names {
			r.Workspaces = append(r.Workspaces, name)
			if workspace := assigned[name]; workspace != "" {
				r.Workspaces = append(r.Workspaces, workspace)
			}
		}
	}
	return m.store.Fetch(ctx, remote, r)
}

// chosen returns the names, or, without any, those of all sessions that the remote has
// or had, and of the workspaces of which something was not taken in.
func (f Fetched) chosen(names []string) []string {
	rejected := map[string]string{}
	for _, bad := range []map[string]error{f.Rejected.Sessions, f.Rejected.Workspaces} {
		for name := range bad {
			rejected[name] = name
		}
	}
	return chosen(names, f.Before.Sessions, f.After.Sessions, rejected)
}

// rejected is what became of a session that was not taken in.
func rejected(name string, err error) Exchange {
	return Exchange{name, "rejected: " + err.Error(), true}
}

// chosen returns the names, or, without any, all those of the maps, sorted.
func chosen(names []string, tips ...map[string]string) []string {
	if len(names) > 0 {
		return names
	}
	all := map[string]bool{}
	for _, t := range tips {
		for name := range t {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
