package main

import (
	"context"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// Fetch brings what a remote has, and warns of what of it cannot be used here.
func (s sessionStore) Fetch(ctx context.Context, name string, progress io.Writer) (before, after map[string]string, err error) {
	old, now, err := s.Store.Fetch(ctx, name, progress)
	s.warn(now)
	return old.Tips, now.Tips, err
}

// Tracked returns what a remote was last heard to have.
func (s sessionStore) Tracked(ctx context.Context, name string) (map[string]string, error) {
	tracked, err := s.Store.Tracked(ctx, name)
	return tracked.Tips, err
}

func (s sessionStore) warn(tracked gitstore.Tracked) {
	for _, err := range tracked.Ignored {
		fmt.Fprintf(s.warnings, "warning: ignored on the remote: %v\n", err)
	}
}

// Push sends sessions, and says of each in a few words what came of it.
func (s sessionStore) Push(ctx context.Context, name string, tips map[string]string, progress io.Writer) (map[string]string, error) {
	pushed, err := s.Store.Push(ctx, name, tips, progress)
	told := map[string]string{}
	for session, p := range pushed {
		told[session] = pushStatus(p)
	}
	return told, err
}

func pushStatus(p gitstore.Pushed) string {
	switch p.Status {
	case remote.Created:
		return "new"
	case remote.Updated:
		return "updated"
	case remote.Deleted:
		return "removed"
	case remote.UpToDate:
		return "up to date"
	case remote.Stale:
		return "rejected: the remote has changes that are not here; run git domarkx pull first"
	case remote.NotTried:
		return "rejected: not sent, as another session was rejected"
	case remote.Unknown:
		return "rejected: the connection ended too early to know; run git domarkx fetch to see"
	}
	return "rejected: " + p.Reason
}
