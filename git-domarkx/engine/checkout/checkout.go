// Package checkout writes versions of workspaces to directories.
package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Manager writes versions of workspaces to directories.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
}

// New returns a manager for the workspaces in a store.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store) *Manager {
	return &Manager{sessions: sessions, trust: trust, store: store}
}

// A Request describes a version to write and the directory to write it to.
type Request struct {
	Of      engine.Revision // session that the version belongs to, or workspace of that name
	Version domarkx.Version
	Dir     string // must be empty or must not exist
	Yes     bool   // also write hazards (see [trust.Write]), as far as this user is permitted to
}

// Checkout writes a version of a workspace to a directory, each resource to a subdirectory, and returns descriptions of the parts
// that could not be written exactly. It returns a [*RefusedError] if the directory is not empty, or if the version contains
// hazards (see [trust.Write]) and r.Yes is false. If the process is killed, the directory is either complete or unchanged. A
// repeated checkout removes leftovers.
func (m *Manager) Checkout(ctx context.Context, r Request) ([]string, error) {
	if err := vacantDirectory(r.Dir); err != nil {
		return nil, err
	}
	for _, resource := range r.Version.Resources {
		if err := m.sessions.CheckResource(ctx, "", resource); err != nil {
			return nil, fmt.Errorf("workspace version %.12s: %w", r.Version.ID, err)
		}
	}
	p, err := m.permitted(ctx, r)
	if err != nil {
		return nil, err
	}
	s, whole, err := newStage(r.Dir, r.Version)
	if err != nil {
		return nil, err
	}
	defer s.lock.Close()
	var left []string
	if !whole {
		if left, err = m.restoreTo(ctx, p, r, s.path); err != nil {
			return left, errors.Join(err, removeRestored(s.path))
		}
	}
	if err := s.finish(); err != nil {
		err = fmt.Errorf("moving %q to %q: %w", r.Dir, s.path, err)
		if !s.inside { // no part of it has been moved to dir yet
			err = errors.Join(err, removeRestored(s.path))
		}
		return left, err
	}
	return left, nil
}

// restoreTo writes the resources to subdirectories of dir.
func (m *Manager) restoreTo(ctx context.Context, p permit.Permit, r Request, dir string) (left []string, err error) {
	for _, resource := range r.Version.Resources {
		missing, err := restoreVersion(ctx, m.store, resource.Version, filepath.Join(dir, resource.ID), p.Right() == permit.Option)
		for _, what := range missing {
			left = append(left, resource.ID+": "+what)
		}
		if err != nil {
			return left, fmt.Errorf("writing resource %q to %q: %w", resource.ID, r.Dir, err)
		}
	}
	return left, nil
}

// vacantDirectory returns a [*RefusedError] if a directory contains anything but the leftovers of a
// killed checkout. The directory need not exist.
func vacantDirectory(dir string) error {
	names, err := namesIn(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { _, _, ok := parseStage(name); return ok }) {
		return errNotEmpty(dir)
	}
	return nil
}

func errNotEmpty(dir string) error {
	return &engine.RefusedError{Reason: fmt.Sprintf("directory %q is not empty: a workspace is written to an empty one", dir)}
}

// permitted returns the permit to write a version, or a [*engine.RefusedError] that names its hazards.
func (m *Manager) permitted(ctx context.Context, r Request) (permit.Permit, error) {
	info, err := m.sessions.Resolve(ctx, r.Of)
	if err != nil && (r.Yes || errors.Is(err, domarkx.ErrNotFound)) {
		info, err = domarkx.Info{}, nil
	}
	if err != nil {
		return permit.Permit{}, err
	}
	p, err := m.trust.Gate(trust.Consent{Yes: r.Yes}).Permit(ctx, trust.Write{Session: info, Version: r.Version})
	untrusted, ok := errors.AsType[*trust.UntrustedError](err)
	if !ok {
		return p, err
	}
	var found []string
	for _, b := range untrusted.Brought {
		found = append(found, gitcmd.QuotedPath(b.Path)+" ("+b.Why+")")
	}
	for _, h := range untrusted.Hazards {
		found = append(found, h.Why+" "+gitcmd.QuotedPath(h.Path))
	}
	const most = 8
	more := ""
	if len(found) > most {
		found, more = found[:most], fmt.Sprintf(" and %d more", len(found)-most)
	}
	list := strings.Join(found, ", ") + more
	if len(untrusted.Brought) > 0 {
		return p, &engine.RefusedError{Reason: fmt.Sprintf("the workspace of %s holds nested repositories by which Git would run programs: %s; look at them in a mount, and write them all the same with --yes", r.Of.Name, list)}
	}
	return p, &engine.RefusedError{Reason: fmt.Sprintf("%s is not trusted, and its workspace holds what can do harm: %s; look at it in a mount, and write it all the same with --yes, or trust the session (git domarkx trust %s)",
		r.Of.Name, list, refname.Argument(r.Of.Name))}
}
