package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/glob"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/gitignore"
)

// A BusyError means that a rewind was refused because an agent works in the work tree.
type BusyError struct {
	Session string // the session, or its workspace if it has no name yet
	Open    bool   // whether a turn is open; otherwise the agent worked less than a minute ago
}

func (e *BusyError) Error() string {
	if e.Open {
		return fmt.Sprintf("the agent of %q is in the middle of a turn in this work tree; wait for its end, or repeat with --yes", e.Session)
	}
	return fmt.Sprintf("the agent of %q worked in this work tree less than a minute ago; end it, or repeat with --yes", e.Session)
}

// quiet is how long all sessions of a work tree must have been inactive before a rewind.
const quiet = time.Minute

// A Rewinder rewinds sessions and their workspaces in the store.
type Rewinder interface {
	Rewind(ctx context.Context, r engine.Revision) (turns.RewindResult, error)
}

// A Rewound describes a rewind.
type Rewound struct {
	turns.RewindResult
	Tree      string            // the rewound work tree; "" if it was not changed because no version is known for the message
	LeftAlone []domarkx.LeftOut // what stayed as it is in the work tree, without what Git ignores now, sorted by path
}

// The reasons for which a rewind leaves files alone, beside those of package dirversion.
const (
	ReasonIgnored = "ignored then"
	ReasonChanged = "changed meanwhile"
)

// Observes reports whether a workspace is one of an observed work tree.
func (m *Manager) Observes(ctx context.Context, workspace string) (bool, error) {
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil || !IsObserved(tip) {
		return false, err
	}
	top, err := m.treeOf(workspace)
	return top != "", err
}

// Rewind rewinds a recorded session and its work tree. It first commits the present content of the
// work tree as a version, so that a rewind to the previous snapshot undoes it. If an agent works
// there, Rewind returns a [*BusyError] unless force is set. If the process is killed, the same call
// completes the rewind. It leaves files alone that other programs change meanwhile, and returns a
// [*dirversion.ChangedError] then; the same call completes it, too.
func (m *Manager) Rewind(ctx context.Context, with Rewinder, r engine.Revision, workspace string, force bool) (Rewound, error) {
	var done Rewound
	top, err := m.treeOf(workspace)
	if err != nil {
		return done, err
	}
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return done, fmt.Errorf("rewind %s: the work tree %q: %w", r, top, domarkx.ErrNotFound)
	}
	git, err := gitcmd.Discover(ctx, top, agents.WithoutGit(os.Environ()))
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
	if done.RewindResult, err = with.Rewind(ctx, r); err != nil {
		return done, err
	}
	if done.Workspace.ID == "" {
		done.Tree = "" // nothing to do, or no version is known
		return done, nil
	}
	done.Tree = top
	if done.LeftAlone, err = t.load(ctx, done.Workspace, left); err != nil {
		return done, fmt.Errorf("the session was rewound, but the work tree %q only in part: %w; what was there is in the version before, and the same command goes on", top, err)
	}
	return done, t.save()
}

// treeOf returns the work tree in which a workspace's session was observed last. If it was observed
// in another clone, treeOf returns the work tree of this repository, or "" if that is bare.
func (m *Manager) treeOf(workspace string) (string, error) {
	dirs, err := glob.Below(m.env.StateDir, "observed/*")
	if err != nil {
		return "", err
	}
	known := sources.Open(m.env.StateDir) // keeps its keys when a session is renamed
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
	for _, s := range slices.SortedFunc(maps.Values(t.Sessions), func(a, b *session) int { return cmp.Compare(a.Workspace, b.Workspace) }) {
		name := cmp.Or(s.Session, s.Workspace)
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

// keep commits the present content of the work tree as a version, and returns the files that the
// version leaves out.
func (m *Manager) keep(ctx context.Context, t *tree, workspace string) ([]domarkx.LeftOut, error) {
	now, err := t.read(ctx)
	if err != nil {
		return nil, err
	}
	defer now.abort()
	_, err = m.commit(ctx, t, workspace, domarkx.VersionCommit{Operation: "change", Observed: &domarkx.Observation{}}, now)
	return now.left, err
}

// load replaces the content of the work tree by that of a version. It does not touch files that Git
// ignores by the rules of the work tree or of the version, and files that either side leaves out. It
// returns the paths that it left alone, without what Git ignores now.
// A version that came from a remote may hold what none of a work tree does: nested repositories,
// whose config names programs for Git to run, and special files. Those are not written.
func (t *tree) load(ctx context.Context, v domarkx.Version, left []domarkx.LeftOut) ([]domarkx.LeftOut, error) {
	if !IsObserved(v) {
		return nil, fmt.Errorf("version %s: %w: it is not one of a work tree", v.ID, domarkx.ErrInvalid)
	}
	base, err := t.m.rulesOf(ctx, t.git)
	if err != nil {
		return nil, err
	}
	then := &storedRules{ctx: ctx, t: t, version: v.Resources[0].Version}
	then.rules = gitignore.NewTree(base, then.read)
	keep, alone := map[string]string{}, map[string]string{} // path → reason
	outs := slices.Clone(left)
	if was, err := t.m.observation(ctx, v); err != nil {
		return nil, err
	} else if was != nil {
		outs = append(outs, was.LeftOut...)
	}
	for _, f := range outs {
		keep[f.Path] = f.Reason
	}
	f, err := t.open(ctx, func(file string, directory bool) bool {
		reason := keep[file]
		if t.isGit(path.Base(file)) {
			return true
		}
		if reason == "" && then.ignores(file, directory) {
			reason = ReasonIgnored
		}
		if reason != "" {
			alone[file] = reason
		}
		return reason != ""
	})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = errors.Join(f.Load(ctx, withoutSpecial{t.m.store}, then.version), then.err)
	var changed *dirversion.ChangedError
	if errors.As(err, &changed) {
		for _, path := range changed.Paths {
			alone[path] = ReasonChanged
		}
	}
	list := make([]domarkx.LeftOut, 0, len(alone))
	for _, path := range slices.Sorted(maps.Keys(alone)) {
		list = append(list, domarkx.LeftOut{Path: path, Reason: alone[path]})
	}
	return list, err
}

// isGit reports whether the file system here treats a name as ".git".
func (t *tree) isGit(name string) bool {
	if name == ".git" || !trust.IsGitName(name) {
		return name == ".git"
	}
	own, err := os.Lstat(filepath.Join(t.top, ".git"))
	if err != nil {
		return false
	}
	other, err := os.Lstat(filepath.Join(t.top, name))
	return err == nil && os.SameFile(own, other)
}

// withoutSpecial reads versions without devices and other special files.
type withoutSpecial struct{ domarkx.VersionReader }

func (r withoutSpecial) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := r.VersionReader.Directory(ctx, id)
	return slices.DeleteFunc(slices.Clone(files), func(f domarkx.File) bool {
		return f.Type != domarkx.Regular && f.Type != domarkx.Symlink && f.Type != domarkx.Directory
	}), err
}

// observation returns the observation that belongs to the content of v: v may be a rewind, which
// restores an earlier version.
func (m *Manager) observation(ctx context.Context, v domarkx.Version) (*domarkx.Observation, error) {
	for w, err := range m.store.Versions(ctx, v.ID) {
		if err != nil {
			return nil, err
		}
		if w.Observed == nil {
			continue
		}
		full, err := m.store.VersionOrStub(ctx, w.ID)
		if err != nil {
			return nil, err
		}
		if len(full.Resources) == 1 && full.Resources[0].Version == v.Resources[0].Version {
			return w.Observed, nil
		}
	}
	return nil, nil
}

// storedRules evaluates the rules of gitignore(5) in a version of a work tree.
type storedRules struct {
	ctx     context.Context
	t       *tree
	version string
	rules   *gitignore.Tree
	err     error
}

// ignores reports whether the rules exclude a path. It returns false for a path that the version
// contains, because Git tracked that path.
func (s *storedRules) ignores(path string, directory bool) bool {
	if !s.rules.Ignores(path, directory) {
		return false
	}
	has, err := s.t.m.store.HasPath(s.version, path)
	if err != nil {
		s.err = errors.Join(s.err, err)
	}
	return !has
}

// read returns the file with patterns in a directory of the version. A missing one is empty.
func (s *storedRules) read(directory string) []byte {
	data, err := s.readFile(path.Join(directory, gitignore.FileName))
	s.err = errors.Join(s.err, err)
	return data
}

// readFile reads at most [gitignore.MaxSize] bytes of a file in the version. A missing file is empty.
func (s *storedRules) readFile(path string) ([]byte, error) {
	id, err := s.t.m.store.FindFile(s.version, path)
	if err != nil || id == "" {
		return nil, err
	}
	c, err := s.t.m.store.Content(s.ctx, id)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return io.ReadAll(io.NewSectionReader(c, 0, min(c.Size(), gitignore.MaxSize)))
}
