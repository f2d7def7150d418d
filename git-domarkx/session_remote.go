package main

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// The kinds of references below refs/domarkx/ that are shared.
const (
	sessionKind   = "sessions"
	workspaceKind = "workspaces"
)

// client returns a client that exchanges this repository's references with remotes.
func (s sessionStore) client(progress io.Writer) *remote.Client {
	return &remote.Client{Git: s.Git(), Refs: refdb.Open(s.Git()), Kinds: []string{sessionKind, workspaceKind}, Accept: acceptable, Progress: progress}
}

func acceptable(ref string) error {
	if name, ok := workspaceOf(ref); ok {
		return gitstore.CheckWorkspaceName(name)
	}
	return gitstore.CheckName(nameOf(ref))
}

// nameOf returns the session of a shared reference.
func nameOf(ref string) string { return strings.TrimPrefix(ref, gitstore.SessionRef("")) }

// workspaceOf returns the workspace of a shared reference, if it is the reference of one.
func workspaceOf(ref string) (string, bool) { return strings.CutPrefix(ref, gitstore.WorkspaceRef("")) }

// Fetch gets sessions and workspaces from a remote. It warns about references that this
// program does not accept.
func (s sessionStore) Fetch(ctx context.Context, name string, r engine.FetchRequest) (result engine.Fetched, err error) {
	from, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return result, err
	}
	client := s.client(r.Progress)
	client.Verify = func(ctx context.Context, refs []refdb.Ref) (map[string]error, error) {
		return s.Verify(ctx, refs, r.Checks)
	}
	client.Along = func(ref refdb.Ref) bool {
		_, ok := workspaceOf(ref.Name)
		return ok && s.HasVersion(ref.ID)
	}
	if result.Before, err = s.seen(client, from); err != nil {
		return result, err
	}
	var only []string
	for _, session := range r.Sessions {
		only = append(only, gitstore.SessionRef(session))
	}
	for _, workspace := range r.Workspaces {
		only = append(only, gitstore.WorkspaceRef(workspace))
	}
	fetched, err := client.Fetch(ctx, from, only...)
	if err != nil {
		return result, err
	}
	for _, ignored := range fetched.Ignored {
		s.warn(ignored)
	}
	result.After = tipsOf(fetched.Refs)
	result.Rejected = engine.Rejected{Sessions: map[string]error{}, Workspaces: map[string]error{}}
	for ref, err := range fetched.Rejected {
		if workspace, ok := workspaceOf(ref); ok {
			result.Rejected.Workspaces[workspace] = err
		} else {
			result.Rejected.Sessions[nameOf(ref)] = err
		}
	}
	return result, nil
}

// Tracked returns the remote's tips as last seen.
func (s sessionStore) Tracked(ctx context.Context, name string) (engine.Tips, error) {
	in, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return engine.Tips{}, err
	}
	return s.seen(s.client(nil), in)
}

func (s sessionStore) seen(client *remote.Client, in remote.Remote) (engine.Tips, error) {
	refs, _, err := client.Seen(in) // Fetch has already reported the ignored references
	return tipsOf(refs), err
}

func tipsOf(refs []refdb.Ref) engine.Tips {
	tips := engine.Tips{Sessions: map[string]string{}, Workspaces: map[string]string{}}
	for _, ref := range refs {
		note(tips, ref.Name, ref.ID)
	}
	return tips
}

// note sets the value for a shared reference in tips.
func note(tips engine.Tips, ref, value string) {
	if name, ok := workspaceOf(ref); ok {
		tips.Workspaces[name] = value
		return
	}
	tips.Sessions[nameOf(ref)] = value
}

// Push updates tips on a remote, all or none. It returns a status for each.
func (s sessionStore) Push(ctx context.Context, name string, tips engine.Tips, progress io.Writer) (engine.Tips, error) {
	to, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return engine.Tips{}, err
	}
	client := s.client(progress)
	seen, err := s.seen(client, to)
	if err != nil {
		return engine.Tips{}, err
	}
	var changes []refdb.Change
	for _, session := range slices.Sorted(maps.Keys(tips.Sessions)) {
		changes = append(changes, refdb.Change{Ref: gitstore.SessionRef(session), Old: seen.Sessions[session], New: tips.Sessions[session]})
	}
	for _, workspace := range slices.Sorted(maps.Keys(tips.Workspaces)) {
		changes = append(changes, refdb.Change{Ref: gitstore.WorkspaceRef(workspace), Old: seen.Workspaces[workspace], New: tips.Workspaces[workspace]})
	}
	results, err := client.Push(ctx, to, changes...)
	told := tipsOf(nil)
	for _, r := range results {
		note(told, r.Ref, pushed(r))
	}
	return told, err
}

// pushed describes the result of pushing a session, with advice. The engine treats a
// status that starts with "rejected" as a failure.
func pushed(r remote.Result) string {
	switch r.Status {
	case remote.Created:
		return "new"
	case remote.Updated:
		return "updated"
	case remote.Deleted:
		return "removed there"
	case remote.UpToDate:
		return engine.UpToDate
	case remote.Stale:
		return "rejected: the remote has changes that are not here; run git domarkx pull, then push again"
	case remote.Lost:
		return "rejected: the remote could not take it (" + r.Reason + "), perhaps as somebody else pushed at the same moment; run git domarkx pull, then push again"
	case remote.NotTried:
		return engine.Held
	case remote.Unknown:
		return "rejected: the connection ended before the remote answered; run git domarkx fetch to see what it has"
	}
	return "rejected by the remote: " + r.Reason
}
