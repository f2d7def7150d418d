package main

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
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
	blocked := map[string]error{}
	for name, err := range pending {
		blocked[name] = err
	}
	opened.store.Block(blocked)
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
	env := local.Environment{
		StateDir:   git.StateDir(),
		WorkTree:   git.WorkTree,
		Identity:   func(ctx context.Context) (author, committer domarkx.Signature, err error) { return identity(ctx, git) },
		Workspaces: inv.workspaces(git, store),
		Local:      local.NewFile(git),
		Warn:       inv.warn,
	}
	sessions := engine.New(store, all.Codecs(), env)
	trust := trust.New(store, env)
	inv.opened = source{
		store:     store,
		sessions:  sessions,
		trust:     trust,
		turns:     turns.New(sessions, trust, store, env),
		imports:   importer.New(sessions, trust, store, all.Codecs(), env),
		remotes:   transfer.New(sessions, store, env),
		checkouts: checkout.New(sessions, trust, store),
		pending:   pendingSaves{},
	}
	return inv.opened, nil
}

// draftsDir returns the directory of the saves that are not snapshots yet.
func draftsDir(git *gitcmd.Git) string { return filepath.Join(git.StateDir(), "drafts") }

// identity returns the author and the committer of the snapshots that the user makes.
func identity(ctx context.Context, git *gitcmd.Git) (author, committer domarkx.Signature, err error) {
	a, err := git.Author(ctx)
	if err != nil {
		return author, committer, err
	}
	c, err := git.Committer(ctx)
	return domarkx.Signature(a), domarkx.Signature(c), err
}

// validator returns a manager without a store, which can only work on documents.
func (inv *invocation) validator() *importer.Manager {
	workTree, types := inv.resourceTypes()
	env := local.Environment{WorkTree: workTree, Workspaces: types}
	return importer.New(engine.New(nil, all.Codecs(), env), trust.New(nil, env), nil, all.Codecs(), env)
}
