package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// sessions returns the manager of the repository's sessions.
func (inv *invocation) sessions() (*engine.SessionManager, error) {
	opened, err := inv.open()
	return opened.sessions, err
}

// open opens the repository's sessions, after storing the saves from mounts.
// invocation.close closes them.
func (inv *invocation) open() (source, error) {
	if inv.opened.store != nil {
		return inv.opened, nil
	}
	opened, err := inv.openStored()
	if err != nil {
		return opened, err
	}
	pending, err := inv.settle(opened)
	maps.Copy(opened.pending, pending)
	return opened, err
}

// openStored opens the repository's sessions without the saves that mounts have not
// stored yet.
func (inv *invocation) openStored() (source, error) {
	git, err := inv.git()
	if err != nil {
		return source{}, err
	}
	store, err := gitstore.Open(inv.ctx, git)
	if err != nil {
		return source{}, err
	}
	store.OnRollback(func(err error) { inv.warn(fmt.Errorf("warning: %w", err)) })
	around := surroundings(git)
	around.Workspaces = inv.workspaces(git, store)
	pending := pendingSaves{}
	inv.opened = source{store, engine.New(sessionStore{store, inv.warn, pending}, all.Codecs(), around), pending}
	return inv.opened, nil
}

// draftsDir returns the directory of the saves that are not snapshots yet.
func draftsDir(git *gitcmd.Git) string { return filepath.Join(git.StateDir(), "drafts") }

func surroundings(git *gitcmd.Git) engine.Surroundings {
	return engine.Surroundings{
		StateDir: git.StateDir(),
		WorkTree: git.WorkTree,
		Now:      time.Now,
		Identity: func(ctx context.Context) (author, committer domarkx.Signature, err error) {
			a, err := git.Author(ctx)
			if err != nil {
				return author, committer, err
			}
			c, err := git.Committer(ctx)
			return domarkx.Signature(a), domarkx.Signature(c), err
		},
		Ignored: func(ctx context.Context, paths []string) ([]bool, error) { return ignored(ctx, git, paths) },
		IgnoredNames: func(ctx context.Context, names []string, tracked bool) ([]bool, error) {
			return ignoredNames(ctx, git, names, tracked)
		},
		Drafts: draftJournal{draftsDir(git)},

		Restorer: restorer{},
		Local:    localState{git},
	}
}

func ignored(ctx context.Context, git *gitcmd.Git, paths []string) ([]bool, error) {
	absolute := make([]string, len(paths))
	for i, path := range paths {
		var err error
		if absolute[i], err = filepath.Abs(path); err != nil {
			return nil, err
		}
	}
	found, err := git.Ignored(ctx, absolute)
	if err != nil {
		return nil, err
	}
	answer := make([]bool, len(paths))
	for i, path := range absolute {
		answer[i] = found[path]
	}
	return answer, nil
}

func ignoredNames(ctx context.Context, git *gitcmd.Git, names []string, tracked bool) ([]bool, error) {
	found, err := git.IgnoredNames(ctx, names, tracked)
	if err != nil {
		return nil, err
	}
	answer := make([]bool, len(names))
	for i, name := range names {
		answer[i] = found[name]
	}
	return answer, nil
}

// validator returns a manager without a store, which can only work on documents.
func (inv *invocation) validator() *engine.SessionManager {
	workTree, types := inv.resourceTypes()
	return engine.New(nil, all.Codecs(), engine.Surroundings{
		WorkTree:   workTree,
		Ignored:    func(_ context.Context, paths []string) ([]bool, error) { return make([]bool, len(paths)), nil },
		Workspaces: types,
	})
}
