package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// A BusyError is the error of a rewind while an agent works in the work tree.
type BusyError struct {
	Session string // the session, or its workspace
	Open    bool   // whether a turn is open; otherwise it wrote a moment ago
}

func (e *BusyError) Error() string {
	if e.Open {
		return fmt.Sprintf("the agent of %q is in the middle of a turn in this work tree; wait for its end, or repeat with --yes", e.Session)
	}
	return fmt.Sprintf("the agent of %q worked in this work tree less than a minute ago; end it, or repeat with --yes", e.Session)
}

// quiet is how long no session of a work tree may have written before a rewind.
const quiet = time.Minute

// A Rewinder takes sessions back, with the workspaces in the store.
type Rewinder interface {
	Rewind(ctx context.Context, r engine.Revision) (turns.RewindResult, error)
}

// A Rewound is the result of a rewind.
type Rewound struct {
	turns.RewindResult
	Tree    string // the work tree; "" if it was not taken back, because no version of it is known for that message
	LeftOut []domarkx.LeftOut
}

// Observes reports whether a workspace is that of an observed work tree.
func (m *Manager) Observes(ctx context.Context, workspace string) (bool, error) {
	tip, err := m.store.WorkspaceTip(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) {
		return false, nil
	}
	if err != nil || !IsObserved(tip) {
		return false, err
	}
	top, err := m.treeOf(workspace)
	return top != "", err
}

// Rewind takes a recorded session and its work tree back. What is in the work tree becomes a version first, so
// that a rewind to the snapshot before undoes it. Without force it is a [*BusyError] while an agent works there. After
// a kill, the same call completes it.
func (m *Manager) Rewind(ctx context.Context, with Rewinder, r engine.Revision, workspace string, force bool) (Rewound, error) {
	var done Rewound
	top, err := m.treeOf(workspace)
	if err != nil {
		return done, err
	}
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return done, fmt.Errorf("rewind %s: the work tree %q: %w", r, top, domarkx.ErrNotFound)
	}
	git, err := gitcmd.Discover(ctx, top, withoutGit())
	if err != nil {
		return done, err
	}
	t, err := m.lock(ctx, git)
	if err != nil {
		return done, err
	}
	defer t.close()
	if !force {
		if err := m.idle(ctx, t); err != nil {
			return done, err
		}
	}
	left, err := m.keep(ctx, t, workspace)
	if err = errors.Join(err, t.save()); err != nil {
		return done, err
	}
	done.LeftOut = left
	if done.RewindResult, err = with.Rewind(ctx, r); err != nil {
		return done, err
	}
	if done.Workspace.ID == "" {
		done.Tree = "" // nothing to do, or nothing known
		return done, nil
	}
	done.Tree = top
	if err := t.load(ctx, done.Workspace, left); err != nil {
		return done, fmt.Errorf("the session was rewound, but the work tree %q only in part: %w; what was there is in the version before, and the same command goes on", top, err)
	}
	return done, t.save()
}

// treeOf returns the work tree in which the session of a workspace was observed last. For one that was observed in
// another clone, that is the present work tree, or "" if there is none.
func (m *Manager) treeOf(workspace string) (string, error) {
	dirs, err := filepath.Glob(filepath.Join(m.env.StateDir, "observed", "*"))
	if err != nil {
		return "", err
	}
	known, err := sources.Open(m.env.StateDir) // follows when a session is renamed
	if err != nil {
		return "", err
	}
	top, last := "", time.Time{}
	for _, dir := range dirs {
		r, _, err := readRecord(dir)
		if err != nil {
			return "", err
		}
		for key, s := range r.Sessions {
			if (s.Workspace == workspace || sessionOf(known, key, s) == workspace) && (top == "" || s.Last.After(last)) {
				top, last = r.Top, s.Last
			}
		}
	}
	if top == "" {
		top = m.git.WorkTree
	}
	return top, nil
}

// idle returns a [*BusyError] if an agent works in the work tree.
func (m *Manager) idle(ctx context.Context, t *tree) error {
	now := time.Now()
	for _, s := range t.sorted() {
		name := s.Session
		if name == "" {
			name = s.Workspace
		}
		if s.isOpen(now) {
			return &BusyError{name, true}
		}
		last := s.Last
		if tip, err := m.store.Tip(ctx, name); err == nil && (tip.Operation == "import" || tip.Operation == LinkOperation) && time.Unix(tip.Date, 0).After(last) {
			last = time.Unix(tip.Date, 0)
		}
		if now.Sub(last) < quiet {
			return &BusyError{name, false}
		}
	}
	return nil
}

// keep commits the present content of the work tree, and returns the files that the version does not contain.
func (m *Manager) keep(ctx context.Context, t *tree, workspace string) ([]domarkx.LeftOut, error) {
	now, err := t.read(ctx)
	if err != nil {
		return nil, err
	}
	defer now.abort()
	c := domarkx.VersionCommit{Operation: "change", Observed: &domarkx.Observation{LeftOut: now.left}}
	if c.Observed.Head, c.Observed.Branch, err = headOf(ctx, t.git); err != nil {
		return nil, err
	}
	_, err = m.commit(ctx, workspace, c, now)
	return now.left, err
}

// load replaces the content of the work tree by a version. It touches nothing that Git ignores, by the present rules
// or by those in the version, and nothing that one of both versions leaves out.
func (t *tree) load(ctx context.Context, v domarkx.Version, left []domarkx.LeftOut) error {
	if !IsObserved(v) {
		return fmt.Errorf("version %s: %w: it is not one of a work tree", v.ID, domarkx.ErrInvalid)
	}
	then := &storedRules{ctx: ctx, t: t, version: v.Resources[0].Version, rules: map[string]storedDirectory{}}
	var err error
	if then.base, err = rulesOf(ctx, t.git); err != nil {
		return err
	}
	keep := map[string]bool{}
	outs := slices.Clone(left)
	if was, err := t.m.observation(ctx, v); err != nil {
		return err
	} else if was != nil {
		outs = append(outs, was.LeftOut...)
	}
	for _, f := range outs {
		keep[f.Path] = true
	}
	f, err := t.open(ctx, func(path string, directory bool) bool { return keep[path] || then.ignores(path, directory) })
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Load(ctx, t.m.store, then.version)
	var changed *dirversion.ChangedError
	if errors.As(err, &changed) {
		return fmt.Errorf("%w; another program works there", err)
	}
	return errors.Join(err, then.err)
}

// observation returns the observation of the version of a work tree that a version restores.
func (m *Manager) observation(ctx context.Context, v domarkx.Version) (*domarkx.Observation, error) {
	for w, err := range m.store.Versions(ctx, v.ID) {
		if err != nil {
			return nil, err
		}
		if w.Observed == nil {
			continue
		}
		full, err := m.store.Version(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		if len(full.Resources) == 1 && full.Resources[0].Version == v.Resources[0].Version {
			return w.Observed, nil
		}
	}
	return nil, nil
}

// storedRules are the rules of gitignore(5) in a version of a work tree.
type storedRules struct {
	ctx     context.Context
	t       *tree
	version string
	base    *gitignore.Stack
	rules   map[string]storedDirectory // by directory
	err     error
}

// A storedDirectory is the rules for the files in a directory.
type storedDirectory struct {
	stack   *gitignore.Stack
	ignored bool // the directory is ignored, although the version has files in it
}

// ignores reports whether the rules exclude a path. A path that the version contains is not ignored: Git tracked
// it then.
func (s *storedRules) ignores(path string, directory bool) bool {
	above := ""
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		above = path[:i]
	}
	if rules := s.in(above); !rules.ignored && !rules.stack.Excludes(path, directory) {
		return false
	}
	has, err := s.t.m.store.HasPath(s.ctx, s.version, path)
	if err != nil {
		s.err = errors.Join(s.err, err)
	}
	return !has
}

func (s *storedRules) in(directory string) storedDirectory {
	if rules, ok := s.rules[directory]; ok {
		return rules
	}
	rules := storedDirectory{stack: s.base}
	at := gitignore.FileName
	if directory != "" {
		above := ""
		if i := strings.LastIndexByte(directory, '/'); i >= 0 {
			above = directory[:i]
		}
		rules, at = s.in(above), directory+"/"+gitignore.FileName
		rules.ignored = rules.ignored || rules.stack.Excludes(directory, true)
	}
	data, err := s.read(at)
	if err != nil {
		s.err = errors.Join(s.err, err)
	}
	rules.stack = rules.stack.With(gitignore.Parse(directory, data))
	s.rules[directory] = rules
	return rules
}

// read reads a file of the version; a missing one is empty.
func (s *storedRules) read(path string) ([]byte, error) {
	id, err := s.t.m.store.FindFile(s.ctx, s.version, path)
	if err != nil || id == "" {
		return nil, err
	}
	c, err := s.t.m.store.Content(s.ctx, id)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	data := make([]byte, min(c.Size(), maxRules))
	if len(data) == 0 {
		return nil, nil
	}
	if n, err := c.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}
