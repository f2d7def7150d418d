package main

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/agents/origin"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// managers are the objects with which commands work in an open repository.
type managers struct {
	git       *gitcmd.Git
	store     *gitstore.Store
	sessions  *engine.SessionManager
	remotes   *transfer.Manager
	trust     *trust.Manager
	turns     *turns.Manager
	replays   *replay.Manager
	imports   *importer.Manager
	checkouts *checkout.Manager
	scans     *scan.Manager
	trees     *observe.Manager
	pending   pendingSaves

	redactions *redact.Manager
}

// picker returns what chooses sessions.
func (m managers) picker() pick.Picker { return pick.Picker{Sessions: m.sessions, Store: m.store} }

// reviews returns what makes reviews.
func (m managers) reviews() *review.Manager {
	return &review.Manager{Store: m.store, Git: m.git, State: local.NewFile(m.git), Remotes: m.remotes, Scans: m.scans, Agent: m.sessions.Agent}
}

// origins returns what says from which sessions of other programs sessions are.
func (m managers) origins() origin.Reader { return origin.Reader{Sessions: m.sessions, Store: m.store} }

// pendingSaves maps sessions to their saves in mounts that are not snapshots yet.
type pendingSaves map[string]*engine.PendingError

// mounted returns the sessions in the form in which a mount serves them.
func (m managers) mounted() mountd.Sessions {
	return mountd.Sessions{Store: m.store, Sessions: m.sessions, Turns: m.turns}
}

// mounts returns the repository's mounts. Outside a repository it returns an error and also
// mounts, with which a command can only unmount and detach directories.
func (inv *invocation) mounts() (*mountd.Mounts, error) {
	git, err := inv.git()
	return &mountd.Mounts{Git: git, Getenv: inv.getenv, Warn: inv.warn, Log: inv.err}, err
}

// listMounts returns the directories on which the repository is mounted.
func (inv *invocation) listMounts() ([]mountd.Mount, error) {
	mounts, err := inv.mounts()
	if err != nil {
		return nil, err
	}
	return mounts.List()
}

// open opens the repository's sessions, after the saves in mounts are stored. close closes them.
func (inv *invocation) open() (managers, error) {
	if inv.opened.store != nil {
		return inv.opened, nil
	}
	opened, err := inv.openStored()
	if err != nil {
		return opened, err
	}
	return opened, inv.settle(opened)
}

// settle stores the saves in mounts. Those that cannot be stored block their sessions.
func (inv *invocation) settle(opened managers) error {
	mounts, err := inv.mounts()
	if err != nil {
		return err
	}
	pending, err := mounts.Settle(inv.ctx, opened.mounted(), inv.patience)
	blocked := map[string]error{}
	for name, reason := range pending {
		opened.pending[name] = &engine.PendingError{Name: name, Reason: reason}
		blocked[name] = opened.pending[name]
	}
	opened.store.Block(blocked)
	return err
}

// openStored opens the repository's sessions without waiting for saves in mounts.
func (inv *invocation) openStored() (managers, error) {
	git, err := inv.git()
	if err != nil {
		return managers{}, err
	}
	store, err := gitstore.Open(inv.ctx, git)
	if err != nil {
		return managers{}, err
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
	trust := trust.New(store, env)
	scans := scan.New(store, env)
	redactor := redact.NewRedactor(store, env, scans)
	sessions := engine.New(store, all.Codecs(), env, redactor)
	redactions := redact.New(sessions, redactor)
	inv.opened = managers{
		git:       git,
		store:     store,
		sessions:  sessions,
		trust:     trust,
		turns:     turns.New(sessions, trust, store, env),
		replays:   replay.New(sessions, trust, store, env),
		imports:   importer.New(sessions, store, env),
		remotes:   transfer.New(sessions, store, env, redactions),
		checkouts: checkout.New(sessions, trust, store),
		trees:     observe.New(sessions.Updates, store, git, env, bootID(), func() ([]string, error) { return inv.forbidden(git) }),
		scans:     scans,

		redactions: redactions,
		pending:    pendingSaves{},
	}
	inv.opened.imports.RenamesSessions(inv.opened.turns)
	redactions.OnForget(func(ctx context.Context) error { return search.Forget(ctx, store) })
	return inv.opened, nil
}

// identity returns the author and the committer of the snapshots that the user makes.
func identity(ctx context.Context, git *gitcmd.Git) (author, committer domarkx.Signature, err error) {
	if author, err = git.Author(ctx); err == nil {
		committer, err = git.Committer(ctx)
	}
	return author, committer, err
}
