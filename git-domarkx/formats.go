package main

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// checkFormat returns an error if no format has that name. others are further names that a
// command accepts.
func checkFormat(name string, others ...string) error {
	names := append(clidoc.FormatNames(), others...)
	if slices.Contains(names, name) {
		return nil
	}
	slices.Sort(names)
	return usagef("format %q is not known, expected one of %s", name, strings.Join(names, ", "))
}

// revisionIn checks format, opens the sessions and parses a revision. It also mentions
// drafts of the revision's session.
func (inv *invocation) revisionIn(format, spelled string, others ...string) (*engine.SessionManager, engine.Revision, error) {
	if err := checkFormat(format, others...); err != nil {
		return nil, engine.Revision{}, err
	}
	revision, err := engine.ParseRevision(spelled)
	if err != nil {
		return nil, engine.Revision{}, err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return nil, engine.Revision{}, err
	}
	if err := inv.complete(&revision.Name); err != nil {
		return nil, engine.Revision{}, err
	}
	inv.opened.store.BoundMemory(packMemory)
	setGCPercent(inv.getenv, 100)
	inv.mentionDrafts(revision.Name)
	return sessions, revision, nil
}
