// Package redact rewrites histories: it replaces the secrets in all snapshots of sessions and all versions of workspaces
// by placeholders, and removes the files of old versions. Section 15 of gitstore/SPEC.md defines the commits that it makes.
//
// A version whose files expired is left as a stub with what its commit said, so no message and no link is lost. First and last
// versions stay, because forks and live workspaces begin there: so an expiry elsewhere never takes the files in which somebody works.
// What an expiry replaced is not kept, as the disk may be full. Reading a stub is an error that says when and why, so that no caller
// takes it for an empty workspace.
package redact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/purge"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Redactor removes secrets from additions to redacted sessions of a repository.
type Redactor struct {
	store *gitstore.Store
	env   local.Environment
	scans *scan.Manager

	mu    sync.Mutex
	roots map[string]string // newest snapshot → result of redactedRoot
}

// NewRedactor returns a Redactor. scans finds the secrets, except those that the user allowed.
func NewRedactor(store *gitstore.Store, env local.Environment, scans *scan.Manager) *Redactor {
	return &Redactor{store: store, env: env, scans: scans, roots: map[string]string{}}
}

// Manager redacts the sessions of a repository.
type Manager struct {
	*Redactor
	sessions *engine.SessionManager
	forget   func(context.Context) error // removes texts of no session from the search index; may be nil
}

// New returns a manager.
func New(sessions *engine.SessionManager, redactor *Redactor) *Manager {
	return &Manager{Redactor: redactor, sessions: sessions}
}

// OnForget sets a function that removes texts from the search index which no session contains any
// more. Without it, a redaction removes the whole index.
func (m *Manager) OnForget(forget func(context.Context) error) { m.forget = forget }

// newTable returns a table without secrets.
func (m *Redactor) newTable(ctx context.Context) (*placeholder.Table, error) {
	scanner, err := m.scans.Scanner(ctx)
	if err != nil {
		return nil, err
	}
	allowed, err := m.scans.Allowed(ctx)
	return placeholder.New(scanner, func(fingerprint string) bool { return slices.Contains(allowed, fingerprint) }), err
}

// A Request describes a redaction.
type Request struct {
	Name   string
	DryRun bool
	Drop   []string     // resources and attachments to drop if they cannot be edited
	Purge  bool         // keep no copy of the replaced history
	Show   func(Result) // called before anything changes; may be nil
}

// A Shared is a session or workspace whose history is redacted.
type Shared struct {
	Kind    string // "session" or "workspace"
	Name    string
	Removed bool // in the trash
}

// Stuck is a place with a secret where no edit is possible.
type Stuck struct {
	Where string
	Drop  string // the resource or attachment to name with --drop
	Rule  string
}

// Result describes a redaction.
type Result struct {
	Shared   []Shared
	Secrets  int // the number of different secrets
	Replaced int // the number of replaced commits
	Stuck    []Stuck
	Kept     []string // trash refs that keep the replaced histories

	Elsewhere []string // the user's own refs that still reach replaced commits

	Purged purge.Result // the result of --purge
}

// Redact replaces the secrets of a session and of all sessions and workspaces that share its
// history. If a secret is in a place that can neither be edited nor dropped, Redact changes nothing
// and returns the place in Result.Stuck. The error matches [domarkx.ErrNotFound] if the session
// does not exist.
func (m *Manager) Redact(ctx context.Context, r Request) (Result, error) {
	if _, err := m.store.Tip(ctx, r.Name); err != nil {
		return Result{}, err
	}
	var result Result
	var of *history
	kept, err := m.store.Redact(ctx, "redact "+r.Name, func(tx *gitstore.Tx) (gitstore.Redaction, error) {
		h, err := m.sharing(ctx, r.Name)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		result, of = Result{Shared: h.names()}, h
		for _, other := range result.Shared {
			if other.Kind != refname.Sessions.Noun || other.Removed {
				continue
			}
			if _, err := m.store.Tip(ctx, other.Name); err != nil { // for example, a mount holds an unstored save
				return gitstore.Redaction{}, err
			}
		}
		stubs, _, err := m.joinStubs(ctx, h, nil, "")
		if err != nil {
			return gitstore.Redaction{}, err
		}
		t, err := m.newTable(ctx)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		w, err := m.rewrite(ctx, tx, h, nil, r.Drop, false, t, stubs)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		former, err := m.formerNames(ctx, result.Shared)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		for _, name := range former {
			w.table.Note([]byte(name), false)
		}
		result.Secrets, result.Stuck = w.table.Added(), w.stuck
		change := w.redaction(h)
		result.Replaced = len(change.Replaced)
		if r.Show != nil {
			r.Show(result)
		}
		if r.DryRun || len(w.stuck) > 0 {
			return gitstore.Redaction{}, nil
		}
		change.Keep = true
		if len(change.Moves) == 0 && len(former) > 0 {
			return change, errors.Join(m.leftovers(h, w.table, w.done), m.forgetTexts(ctx))
		}
		if len(change.Moves) > 0 {
			err = m.finish(ctx, h, w, &change)
		}
		return change, err
	})
	result.Kept = kept
	if err == nil && len(kept) > 0 {
		result.Elsewhere, err = m.elsewhere(ctx, of)
	}
	if err != nil || !r.Purge || r.DryRun || len(result.Stuck) > 0 {
		return result, err
	}
	result.Purged, err = m.purge(ctx, of)
	result.Kept = nil
	return result, err
}

// elsewhere returns the user's own refs that still reach replaced commits of a history, such as a
// branch at a session's commit.
func (m *Manager) elsewhere(ctx context.Context, h *history) ([]string, error) {
	replaced, err := m.store.Replacements()
	if err != nil {
		return nil, err
	}
	var first []string // all other replaced commits descend from these
	for _, head := range slices.Concat(h.snapshots, h.versions) {
		if replaced[idOf(head)] != "" && !slices.ContainsFunc(head.Parents, func(id string) bool { return replaced[id] != "" }) {
			first = append(first, idOf(head))
		}
	}
	return m.store.OwnRefsTo(ctx, first)
}

// purge removes the replaced forms of a history from the trash, and their objects.
func (m *Manager) purge(ctx context.Context, h *history) (purge.Result, error) {
	keys := map[string]bool{}
	for _, head := range slices.Concat(h.snapshots, h.versions) {
		keys[key(head)] = true
	}
	refs, err := m.store.ReplacedHistories(ctx)
	if err != nil {
		return purge.Result{}, err
	}
	var these []refdb.Ref
	for _, ref := range refs {
		head, err := m.store.Head(ctx, ref.ID)
		if err != nil {
			return purge.Result{}, fmt.Errorf("ref %s: %w", ref.Name, err)
		}
		if keys[key(head)] {
			these = append(these, ref)
		}
	}
	live, err := m.liveVersions()
	if err != nil {
		return purge.Result{}, err
	}
	result, err := m.store.Purge(ctx, these, live)
	if err != nil {
		return result, fmt.Errorf("removing what was replaced: %w; it was redacted, and git domarkx redact --purge continues", err)
	}
	return result, nil
}

// liveVersions returns the ids of objects that live workspaces compare their files with. These
// objects are needed until the workspaces have loaded their redacted versions.
func (m *Manager) liveVersions() ([]string, error) {
	paths, err := glob.Below(m.env.StateDir, "workspaces/*/state.json")
	var found []string
	for _, path := range paths {
		data, e := os.ReadFile(path)
		if errors.Is(e, fs.ErrNotExist) {
			continue
		}
		err = errors.Join(err, e)
		found = append(found, oid.FindHex(string(data))...)
	}
	return found, err
}

// redaction returns the changes to the refs of a history.
func (w *rewriter) redaction(h *history) gitstore.Redaction {
	change := gitstore.Redaction{Moves: map[string]string{}, Replaced: map[string]string{}}
	for old, now := range w.done {
		if old != now {
			change.Replaced[old] = now
		}
	}
	for _, ref := range h.refs {
		if now := w.done[ref.ID]; now != "" && now != ref.ID {
			change.Moves[ref.Name] = now
		}
	}
	return change
}

// Undo restores the session name and its workspace to their state before the last redaction.
// Without a replaced history in the trash, the error matches [domarkx.ErrNotFound].
func (m *Manager) Undo(ctx context.Context, name string) (domarkx.Info, error) {
	var info domarkx.Info
	err := m.sessions.Update(ctx, "restore "+name, func(tx *transaction.Tx) (err error) {
		info, err = tx.FromReplaced(ctx, name)
		return err
	})
	return info, err
}
