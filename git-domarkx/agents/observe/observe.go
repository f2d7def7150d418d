// Package observe takes versions of the work trees in which coding agents work, and links the
// messages of recorded sessions to these versions.
//
// A recorded session has a workspace of the same name with one resource, the work tree. The
// resource is read-only, so any number of sessions can observe one work tree. They share a lock, a
// stat cache and the objects of the versions. Links are not part of a document, so an export still
// returns the document that was imported.
package observe

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A Moment is an event in an agent's session after which a version is taken.
type Moment struct {
	Kind  string // the event: [events.Prompt], [events.Batch] or [events.Turn]
	Agent string
	ID    string // the id that the agent gives its session
	Path  string // path of the transcript; "" if unknown
	Dir   string // directory in which the agent works
	Calls []string
	Time  time.Time
	Late  func() bool // called after reading: whether the next call may have begun; may be nil
}

// Manager takes versions of the work trees of a repository. Its methods are safe for concurrent use.
type Manager struct {
	updates   *transaction.Updates
	store     *gitstore.Store
	env       local.Environment
	git       *gitcmd.Git
	forbidden func() ([]string, error)
	boot      string // identifies the boot of the system; "" if unknown

	mu     sync.Mutex
	warned map[string]bool
}

// New returns a manager for the work trees of a repository. boot identifies the boot of the system,
// or is "". forbidden returns paths that must not be read or written, such as mounts.
func New(updates *transaction.Updates, store *gitstore.Store, git *gitcmd.Git, env local.Environment, boot string, forbidden func() ([]string, error)) *Manager {
	return &Manager{updates: updates, store: store, git: git, env: env, boot: boot, forbidden: forbidden, warned: map[string]bool{}}
}

// Resource is the id of the resource in the versions that this package takes.
const Resource = "worktree"

// resourceOf returns the resource of a workspace version, given the version of the work tree.
func resourceOf(version string) domarkx.ResourceVersion {
	config := transcript.Object("type", "filesystem", "id", Resource, "path", ".", "observe", true, "ignored", false)
	return domarkx.ResourceVersion{ResourceSpec: domarkx.ResourceSpec{ID: Resource, Type: "filesystem", Config: config}, Version: version}
}

// IsObserved reports whether a workspace version is one of an observed work tree.
func IsObserved(v domarkx.Version) bool {
	if len(v.Resources) != 1 {
		return false
	}
	observe, _ := v.Resources[0].Config.Get("observe")
	return v.Resources[0].ID == Resource && v.Resources[0].Type == "filesystem" && observe.IsTrue()
}

// Take takes a version of the work tree that contains at.Dir, if anything changed since the
// session's last version. It returns a zero version if nothing changed. The error matches
// [domarkx.ErrNotFound] if no work tree of the repository contains the directory.
func (m *Manager) Take(ctx context.Context, at Moment) (domarkx.Version, error) {
	git, err := m.treeAround(ctx, at.Dir)
	if err != nil {
		return domarkx.Version{}, err
	}
	t, err := m.lock(ctx, git)
	if err != nil {
		return domarkx.Version{}, err
	}
	defer t.close()
	t.session(at.Agent + ":" + at.ID).Hooked = true
	v, err := m.take(ctx, t, at)
	if name := t.session(at.Agent + ":" + at.ID).Session; err == nil && name != "" && (v.ID != "" || at.Kind == events.Turn) {
		err = m.link(ctx, name, at.Kind != events.Batch)
	}
	return v, errors.Join(err, t.save())
}

// take takes a version of a locked work tree.
func (m *Manager) take(ctx context.Context, t *tree, at Moment) (domarkx.Version, error) {
	s := t.session(at.Agent + ":" + at.ID)
	if err := m.name(ctx, s, at); err != nil {
		return domarkx.Version{}, err
	}
	s.begin(at)
	now, err := t.read(ctx)
	if err != nil {
		s.end(at)
		return domarkx.Version{}, err
	}
	defer now.abort()
	c := domarkx.VersionCommit{Operation: at.Kind, Observed: &domarkx.Observation{Calls: at.Calls},
		Overlap: domarkx.Overlap{Late: at.Late != nil && at.Late(), Shared: t.shared(s, at)}}
	v, err := m.commit(ctx, t, s.Workspace, c, now)
	if err != nil {
		t.Version = "" // no reference reaches it
		return v, errors.Join(err, t.dropCache())
	}
	s.end(at)
	return v, nil
}

// commit commits a version of a workspace. It returns a zero version if the content is the same as
// in the newest version.
func (m *Manager) commit(ctx context.Context, t *tree, workspace string, c domarkx.VersionCommit, now *state) (v domarkx.Version, err error) {
	if c.Author, c.Committer, err = m.env.Identity(ctx); err != nil {
		return v, err
	}
	if c.Observed.Head, c.Observed.Branch, err = headOf(ctx, t.git); err != nil {
		return v, err
	}
	c.Observed.LeftOut = now.left
	c.Resources = []domarkx.ResourceVersion{resourceOf(now.version)}
	c.Subject = subjectOf(c)
	err = m.updates.Update(ctx, c.Operation+" "+workspace, func(tx *transaction.Tx) error {
		tip, err := tx.WorkspaceTipOrNone(ctx, workspace)
		switch {
		case err != nil:
			return err
		case IsObserved(tip) && tip.Resources[0].Version == now.version:
			return nil
		case tip.ID != "":
			c.Parents = []string{tip.ID}
		}
		if v, err = tx.CommitVersion(ctx, workspace, c); err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, workspace, v.ID)
	})
	if err != nil {
		return domarkx.Version{}, fmt.Errorf("taking a version of the work tree: %w", err)
	}
	if now.writer == nil {
		return v, nil
	}
	return v, now.writer.Settle()
}

func subjectOf(c domarkx.VersionCommit) string {
	what := map[string]string{events.Prompt: "work tree when a prompt was submitted", events.Batch: "work tree after calls", events.Turn: "work tree after a turn"}[c.Operation]
	if what == "" {
		what = "work tree"
	}
	if c.Observed.Branch != "" {
		what += ", on " + c.Observed.Branch
	}
	return what
}

// name sets the stored session and the workspace of an agent's session. Until the transcript is
// imported, the workspace has a temporary name.
func (m *Manager) name(ctx context.Context, s *session, at Moment) error {
	known := sources.Open(m.env.StateDir)
	if path, err := opencodedb.Canonical(at.Path); err == nil && at.Path != "" {
		s.Path = path
	}
	name := sessionOf(known, at.Agent+":"+at.ID, s)
	if name == "" && s.Workspace == "" {
		sum := sha256.Sum256([]byte(at.Agent + ":" + at.ID))
		s.Workspace = fmt.Sprintf("recording/%x", sum[:10])
	}
	if name == "" || name == s.Workspace {
		return nil
	}
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, name)
	if err != nil {
		return err
	}
	if s.Workspace != "" && strings.HasPrefix(s.Workspace, "recording/") {
		if err := m.adopt(ctx, s.Workspace, workspace); err != nil {
			return err
		}
	}
	s.Workspace, s.Session = workspace, name
	return nil
}

// sessionOf returns the name of the session that was imported from an agent's session, or "".
func sessionOf(known *sources.Record, key string, s *session) string {
	if name := known.Get(key).Session; name != "" || s.Path == "" {
		return name
	}
	return known.Get(s.Path).Session
}

// adopt renames the workspace of a session that has just been imported from its temporary name to
// the session's.
func (m *Manager) adopt(ctx context.Context, from, to string) error {
	return m.updates.Update(ctx, "rename workspace "+from, func(tx *transaction.Tx) error {
		if _, err := tx.WorkspaceTip(ctx, from); errors.Is(err, domarkx.ErrNotFound) {
			return nil
		}
		if _, err := tx.WorkspaceTip(ctx, to); err == nil {
			return nil // keep both: they hold versions from before and after an import under another name
		}
		return tx.RenameWorkspace(ctx, from, to)
	})
}

// treeAround returns the repository of the work tree that contains a directory. The error matches
// [domarkx.ErrNotFound] if no work tree of the repository does.
func (m *Manager) treeAround(ctx context.Context, dir string) (*gitcmd.Git, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	tops, err := m.git.WorkTrees(ctx)
	if err != nil {
		return nil, err
	}
	best := ""
	for _, top := range tops {
		real, err := filepath.EvalSymlinks(top)
		if err == nil && len(real) > len(best) && (dir == real || strings.HasPrefix(dir, strings.TrimSuffix(real, "/")+"/")) {
			best = real
		}
	}
	outside := fmt.Errorf("directory %q: %w in a work tree of the repository", dir, domarkx.ErrNotFound)
	if best == "" {
		return nil, outside
	}
	git, err := gitcmd.Discover(ctx, best, agents.WithoutGit(os.Environ()))
	if err == nil && git.CommonDir != m.git.CommonDir {
		err = outside
	}
	return git, err
}
