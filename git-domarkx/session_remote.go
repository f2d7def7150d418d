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

// sessionKind is the folder below refs/domarkx/ that holds sessions.
const sessionKind = "sessions"

// client speaks to remotes for the repository.
func (s sessionStore) client(progress io.Writer) *remote.Client {
	return &remote.Client{Git: s.Git(), Refs: refdb.Open(s.Git()), Kinds: []string{sessionKind}, Accept: acceptable, Progress: progress}
}

func acceptable(ref string) error { return gitstore.CheckName(nameOf(ref)) }

// nameOf is the session of a shared reference.
func nameOf(ref string) string { return strings.TrimPrefix(ref, gitstore.SessionRef("")) }

// Fetch brings what a remote has. What it has and this program does not accept is
// reported as a warning.
func (s sessionStore) Fetch(ctx context.Context, name string, progress io.Writer) (before, after map[string]string, err error) {
	from, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return nil, nil, err
	}
	client := s.client(progress)
	if before, err = s.seen(client, from); err != nil {
		return nil, nil, err
	}
	fetched, err := client.Fetch(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	for _, ignored := range fetched.Ignored {
		s.warn(ignored)
	}
	return before, tipsOf(fetched.Refs), nil
}

// Tracked returns what the remote had when it was last heard of.
func (s sessionStore) Tracked(ctx context.Context, name string) (map[string]string, error) {
	in, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return nil, err
	}
	return s.seen(s.client(nil), in)
}

func (s sessionStore) seen(client *remote.Client, in remote.Remote) (map[string]string, error) {
	refs, _, err := client.Seen(in) // what is ignored was told when it was fetched
	return tipsOf(refs), err
}

func tipsOf(refs []refdb.Ref) map[string]string {
	tips := make(map[string]string, len(refs))
	for _, ref := range refs {
		tips[nameOf(ref.Name)] = ref.ID
	}
	return tips
}

// Push sends tips, all or none.
func (s sessionStore) Push(ctx context.Context, name string, tips map[string]string, progress io.Writer) (map[string]string, error) {
	to, err := remote.Find(ctx, s.Git(), name)
	if err != nil {
		return nil, err
	}
	client := s.client(progress)
	seen, err := s.seen(client, to)
	if err != nil {
		return nil, err
	}
	var changes []refdb.Change
	for _, session := range slices.Sorted(maps.Keys(tips)) {
		changes = append(changes, refdb.Change{Ref: gitstore.SessionRef(session), Old: seen[session], New: tips[session]})
	}
	results, err := client.Push(ctx, to, changes...)
	told := make(map[string]string, len(results))
	for _, r := range results {
		told[nameOf(r.Ref)] = pushed(r)
	}
	return told, err
}

// pushed says what came of pushing a session, and what to do about it. What the
// engine takes for a failure begins with "rejected".
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
	case remote.NotTried:
		return "rejected: not sent, for another session was rejected"
	case remote.Unknown:
		return "rejected: the connection ended before the remote answered; run git domarkx fetch to see what it has"
	}
	return "rejected by the remote: " + r.Reason
}
