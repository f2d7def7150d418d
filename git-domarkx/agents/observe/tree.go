package observe

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/version"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/limit"
)

// A tree is a work tree that this process has locked.
type tree struct {
	m    *Manager
	git  *gitcmd.Git
	top  string
	dir  string // the directory with its state
	file *os.File
	record
	changed []byte // the state file's content when it was read
}

// A record is the stored state of a work tree.
type record struct {
	Top      string              `json:"top"`
	Boot     string              `json:"boot"`    // identifies the boot during which the stat cache was written
	Version  string              `json:"version"` // the version of the resource that the stat cache describes
	Cache    string              `json:"cache"`   // the cacheStamp of the stat cache that belongs to Version
	Sessions map[string]*session `json:"sessions"`
}

// A session is an agent's session that works in a work tree.
type session struct {
	Session   string    `json:"session,omitempty"` // name in the store, once it is imported
	Workspace string    `json:"workspace"`
	Path      string    `json:"path,omitempty"`   // path of the transcript
	Hooked    bool      `json:"hooked,omitempty"` // a hook has reported an event
	Open      bool      `json:"open,omitempty"`   // a turn has begun and not ended
	Began     time.Time `json:"began"`            // when the last turn began
	Ended     time.Time `json:"ended"`            // when the last turn ended
	Last      time.Time `json:"last"`             // time of the last event
	Taken     time.Time `json:"taken"`            // when the last version was taken
}

// begin records an event before a version is taken for it.
func (s *session) begin(at Moment) {
	if at.Kind != events.Turn && !s.Open {
		s.Open, s.Began = true, at.Time
	}
	if at.Time.After(s.Last) {
		s.Last = at.Time
	}
}

// end records that a version was taken.
func (s *session) end(at Moment) {
	s.Taken = time.Now()
	if at.Kind == events.Turn && s.Open {
		s.Open, s.Ended = false, s.Taken
	}
}

// lock locks a work tree and reads its state. It waits for other processes.
func (m *Manager) lock(ctx context.Context, git *gitcmd.Git) (*tree, error) {
	top, err := filepath.EvalSymlinks(git.WorkTree)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(top))
	t := &tree{m: m, git: git, top: top, dir: filepath.Join(m.env.StateDir, "observed", fmt.Sprintf("%x", sum[:12]))}
	if err := atomicfile.MkdirAll(t.dir, 0o700); err != nil {
		return nil, err
	}
	if t.file, err = os.OpenFile(filepath.Join(t.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, err
	}
	if err := atomicfile.Lock(ctx, t.file); err != nil {
		return nil, errors.Join(fmt.Errorf("locking the work tree %q: %w", top, err), t.file.Close())
	}
	if t.record, t.changed, err = readRecord(t.dir); err != nil {
		return nil, errors.Join(err, t.file.Close())
	}
	t.Top = top
	return t, nil
}

// readRecord reads the state of a work tree and the file's content. A damaged file counts as empty,
// because the state only saves time.
func readRecord(dir string) (record, []byte, error) {
	r := record{Sessions: map[string]*session{}}
	data, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil, nil
	}
	if err != nil {
		return r, nil, err
	}
	if json.Unmarshal(data, &r) != nil {
		r = record{}
	}
	if r.Sessions == nil {
		r.Sessions = map[string]*session{}
	}
	for key, s := range r.Sessions {
		if s == nil {
			delete(r.Sessions, key)
		}
	}
	return r, data, nil
}

// forget is how long a session without events is kept in the state.
const forget = 90 * 24 * time.Hour

// save writes the state.
func (t *tree) save() error {
	for key, s := range t.Sessions {
		if time.Since(s.Last) > forget {
			delete(t.Sessions, key)
		}
	}
	data, err := json.MarshalIndent(t.record, "", " ")
	if err != nil || string(data) == string(t.changed) {
		return err
	}
	t.changed = data
	return local.Replace(filepath.Join(t.dir, "state.json"), data)
}

func (t *tree) close() { t.file.Close() }

func (t *tree) session(key string) *session {
	s := t.Sessions[key]
	if s == nil {
		s = &session{}
		t.Sessions[key] = s
	}
	return s
}

// staleTurn is the time without an event after which an open turn counts as ended, because its
// agent was probably killed.
const staleTurn = time.Hour

func (s *session) isOpen(now time.Time) bool { return s.Open && now.Sub(s.Last) < staleTurn }

// shared returns the workspaces of other sessions whose turns overlap with the period that a
// version of s covers: the present for a prompt, otherwise the time since the session's last
// version.
func (t *tree) shared(s *session, at Moment) []string {
	var names []string
	for _, other := range t.Sessions {
		if other == s || other.Workspace == "" || other.Workspace == s.Workspace {
			continue
		}
		if other.isOpen(at.Time) || at.Kind != events.Prompt && !s.Taken.IsZero() && other.Ended.After(s.Taken) && other.Ended.After(s.Began) {
			names = append(names, other.Workspace)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A state is the content of a work tree at a point in time.
type state struct {
	version string
	left    []domarkx.LeftOut
	writer  *version.Writer // nil if nothing changed
	f       *dirversion.Directory
}

func (s *state) abort() {
	if s.writer != nil {
		s.writer.Abort()
	}
	s.f.Close()
}

func (t *tree) open(ctx context.Context, protect func(string, bool) bool) (*dirversion.Directory, error) {
	if t.Boot != t.m.boot || t.m.boot == "" || t.Cache != t.cacheStamp() {
		// Files are not synced, so a power failure may have changed content without changing the
		// stat. A killed process may have left a cache whose version was never stored.
		if err := t.dropCache(); err != nil {
			return nil, err
		}
		t.Boot, t.Version = t.m.boot, ""
	}
	rules, err := t.m.rulesOf(ctx, t.git)
	if err != nil {
		return nil, err
	}
	tracked := trackedFiles(ctx, t.git, derived.Tracked.Path(t.m.env.StateDir, filepath.Base(t.dir)))
	forbidden, err := t.m.forbidden()
	if err != nil {
		return nil, err
	}
	forbidden = append(forbidden, filepath.Join(t.top, ".git"), t.git.CommonDir, t.git.GitDir)
	config, err := t.git.Config(ctx)
	if err != nil {
		return nil, err
	}
	limits, err := limit.Read(config)
	if err != nil { // a bad setting must not end the recording
		t.m.warn(fmt.Sprintf("the limits are those that nobody set: %v", err))
		limits = limit.Defaults()
	}
	return dirversion.Open(dirversion.Config{Path: t.top, Cache: t.statCache(), Forbidden: forbidden, Limits: limits, Warn: t.m.warn,
		Observe: &dirversion.Observe{Rules: rules, Tracked: tracked, Protect: protect, Aside: filepath.Join(t.dir, "aside")}})
}

// read reads the work tree and stores what changed. The caller must abort the state when it is
// done.
func (t *tree) read(ctx context.Context) (*state, error) {
	f, err := t.open(ctx, nil)
	if err != nil {
		return nil, err
	}
	now := &state{version: t.Version, f: f}
	begin := func() (domarkx.VersionWriter, error) {
		base, err := t.Version, error(nil)
		if base == "" {
			base = t.repeated(ctx)
		}
		if now.writer, err = t.m.store.BeginVersion(ctx, base); err != nil && base != "" {
			now.writer, err = t.m.store.BeginVersion(ctx, "") // garbage collection removed the last version
		}
		return now.writer, err
	}
	changed, err := f.CommitIncrement(ctx, begin)
	if err == nil && !changed && t.Version == "" {
		if _, err = begin(); err == nil {
			err = f.Commit(ctx, now.writer)
		}
		changed = true
	}
	if err == nil && changed {
		// Until the version is complete, the stat cache refers to objects that may be lost.
		now.version, err = now.writer.Finish(ctx)
	}
	if err != nil {
		now.abort()
		t.Version = ""
		return nil, errors.Join(fmt.Errorf("reading the work tree %q: %w", t.top, err), t.dropCache())
	}
	t.Version, t.Cache, now.left = now.version, t.cacheStamp(), f.LeftOut()
	return now, nil
}

// repeated returns what a version repeats for the most part if there is no stat cache, such as the first one and the first
// after a restart of the system: the newest version of a session in the tree, or the commit that is checked out. Without it,
// the repository would have all files twice.
func (t *tree) repeated(ctx context.Context) string {
	var last *session
	for _, s := range t.Sessions {
		if s.Workspace != "" && (last == nil || s.Taken.After(last.Taken)) {
			last = s
		}
	}
	if last != nil {
		if tip, err := t.m.store.WorkspaceTip(ctx, last.Workspace); err == nil && IsObserved(tip) {
			return tip.Resources[0].Version
		}
	}
	head, err := t.git.Run(ctx, nil, "rev-parse", "--verify", "-q", "HEAD^{tree}")
	if err != nil {
		return "" // the branch has no commit yet
	}
	return strings.TrimSpace(string(head))
}

// statCache returns the path of the stat cache.
func (t *tree) statCache() string {
	return derived.WorkTree.Path(t.m.env.StateDir, filepath.Base(t.dir))
}

// cacheStamp identifies the current content of the stat cache; "" if it does not exist.
func (t *tree) cacheStamp() string {
	return stampOf(t.statCache())
}

// stampOf identifies the content of a file; "" if it does not exist.
func stampOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.ModTime().UnixNano(), info.Size())
}

// dropCache removes the stat cache, which after an error may refer to objects that were not stored.
func (t *tree) dropCache() error {
	if err := os.Remove(t.statCache()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
