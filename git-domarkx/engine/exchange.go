package engine

import (
	"context"
	"io"
	"maps"
	"slices"
)

// Remotes exchanges sessions and workspaces with other repositories.
type Remotes interface {
	// Fetch brings what the remote has and returns the tips before and after.
	Fetch(ctx context.Context, remote string, progress io.Writer) (before, after Tips, err error)
	// Tracked returns the tips that the remote had when it was last heard of.
	Tracked(ctx context.Context, remote string) (Tips, error)
	// Push sends the tips (an empty one is removed there), all or none, where the remote
	// still has what it was last heard to have, and returns a status for each.
	Push(ctx context.Context, remote string, tips Tips, progress io.Writer) (Tips, error)
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
// it tells of all sessions.
func (m *SessionManager) Fetch(ctx context.Context, remote string, names []string, progress io.Writer) ([]Exchange, error) {
	before, after, err := m.store.Fetch(ctx, remote, progress)
	if err != nil {
		return nil, err
	}
	var told []Exchange
	for _, name := range chosen(names, before.Sessions, after.Sessions) {
		old, now := before.Sessions[name], after.Sessions[name]
		status := UpToDate
		switch {
		case now == "" && old == "":
			told = append(told, Exchange{name, "not there", true})
			continue
		case now == "":
			status = "removed there"
		case old == "":
			status = "new"
		case old != now, before.Workspaces[name] != after.Workspaces[name]:
			status = "updated"
		}
		told = append(told, Exchange{Name: name, Status: status})
	}
	return told, m.rememberRemoved(remote, before, after)
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
