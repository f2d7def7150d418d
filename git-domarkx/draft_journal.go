package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// draftJournal gives the engine access to the journal of the mounts: the saves that could
// not become snapshots, at most one for each session.
type draftJournal struct{ dir string }

// Put stores a draft durably.
func (j draftJournal) Put(_ context.Context, d engine.Draft) error {
	journal, err := drafts.Open(j.dir)
	if err != nil {
		return err
	}
	_, err = journal.Put(drafts.Draft{Name: d.Name, Base: d.Base, State: drafts.Broken, Problem: d.Problem, Data: d.Data})
	return errors.Join(err, journal.Close())
}

// List returns the newest draft of each session that has one.
func (j draftJournal) List(context.Context) ([]engine.Draft, error) {
	all, err := drafts.List(j.dir)
	var list []engine.Draft
	for _, d := range all {
		if d.State != drafts.Broken {
			continue
		}
		draft := engine.Draft{Name: d.Name, Base: d.Base, Problem: d.Problem, Data: d.Data}
		if i := slices.IndexFunc(list, func(e engine.Draft) bool { return e.Name == d.Name }); i >= 0 {
			list[i] = draft
			continue
		}
		list = append(list, draft)
	}
	return list, err
}

// files returns, sorted, the paths of the files that were saved beside sessions and that no session
// has attached.
func (j draftJournal) files() ([]string, error) {
	all, err := drafts.List(j.dir)
	var paths []string
	for _, d := range all {
		if d.State == drafts.Beside {
			paths = append(paths, strings.TrimPrefix(d.Name, "/"))
		}
	}
	slices.Sort(paths)
	return paths, err
}

// Delete removes the drafts of a session.
func (j draftJournal) Delete(_ context.Context, name string) error {
	return drafts.Discard(j.dir, name)
}
