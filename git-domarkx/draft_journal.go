package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// draftJournal is the journal of the mount as the engine wants it: what was
// saved and could not become a snapshot, one for a session.
type draftJournal struct{ dir string }

// Put keeps a draft durably.
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

// files returns the paths of the files beside sessions that no session keeps, in order.
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

// Delete forgets the drafts of a session.
func (j draftJournal) Delete(_ context.Context, name string) error {
	return drafts.Discard(j.dir, name)
}
