// Package enginetest opens repositories for tests of the engine, with a resource type that records its calls.
package enginetest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/plugins"
)

// Main runs the tests of a package isolated from the user's Git configuration, and returns the exit status.
func Main(m *testing.M) int {
	for key, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "TZ": "UTC",
	} {
		os.Setenv(key, value)
	}
	return shorttest.Main(m)
}

type (
	trustManager  = trust.Manager
	turnsManager  = turns.Manager
	importManager = importer.Manager
	replayManager = replay.Manager
)

// A Clone is a repository with its managers and a clock that advances by a second on each
// use. Its methods end the test when they fail.
type Clone struct {
	*engine.SessionManager
	*trustManager
	*turnsManager
	*importManager
	*replayManager
	T        *testing.T
	redactor redactor
	Dir      string    // path of the work tree
	Now      time.Time // time that the clock returned last
	Settings *Settings // local state of the clone
	Notes    *Notes
	Store    *gitstore.Store
	Env      local.Environment
	reads
}

// The reads are those of growing documents.
type reads struct {
	Decoded int    // number of full ones
	Made    int    // number of messages created
	Reading func() // called before each
}

// codecs returns all codecs, with counters for those of growing documents.
func (c *Clone) codecs() []format.Codec {
	codecs := all.Codecs()
	for i, codec := range codecs {
		if codec.Grow == nil {
			continue
		}
		codecs[i].Open = func(f format.File) iter.Seq2[format.Stream, error] {
			c.Decoded++
			if c.Reading != nil {
				c.Reading()
			}
			return func(yield func(format.Stream, error) bool) {
				for s, err := range codec.Open(f) {
					if shared, ok := s.Messages.(sharedMessages); ok {
						s.Messages = countedMessages{shared, &c.Made}
					}
					if !yield(s, err) {
						return
					}
				}
			}
		}
	}
	return codecs
}

// sharedMessages are the messages of a transcript.
type sharedMessages interface {
	format.Shared
	format.Placed
}

// countedMessages count how often a message is created.
type countedMessages struct {
	sharedMessages
	made *int
}

func (m countedMessages) At(k int) (domarkx.WrittenMessage, error) {
	*m.made++
	return m.sharedMessages.At(k)
}

// Init creates an empty repository with a work tree.
func Init(t testing.TB, dir string) {
	t.Helper()
	gittest.Create(t, filepath.Join(dir, ".git"), "master", false)
}

// New returns an empty repository.
func New(t *testing.T) *Clone {
	t.Helper()
	dir := t.TempDir()
	Init(t, dir)
	return Open(t, dir, &Settings{Values: map[string][]string{}})
}

// Open opens a repository with its own manager.
func Open(t *testing.T, dir string, kept *Settings) *Clone {
	t.Helper()
	c := &Clone{T: t, Dir: dir, Now: time.Unix(1_700_000_000, 0).UTC()}
	git, err := gitcmd.Discover(t.Context(), c.Dir, nil)
	c.check(err)
	s, err := gitstore.Open(t.Context(), git)
	c.check(err)
	t.Cleanup(func() { s.Close() })
	c.Settings, c.Notes, c.Store = kept, &Notes{}, s
	env := local.Environment{
		StateDir: git.StateDir(), WorkTree: git.WorkTree,
		Identity: func(context.Context) (a, b domarkx.Signature, err error) {
			c.Now = c.Now.Add(time.Second)
			who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: c.Now}
			return who, who, nil
		},
		Workspaces: plugins.New([]domarkx.Plugin{c.Notes}, versions{s}, plugins.Config{Dir: filepath.Join(git.StateDir(), "workspaces"), WorkTree: git.WorkTree, Grace: time.Second}),
		Local:      c.Settings,
	}
	c.Env = env
	c.SessionManager, c.trustManager = engine.New(s, c.codecs(), env, &c.redactor), trust.New(s, env)
	c.turnsManager = turns.New(c.SessionManager, c.trustManager, s, env)
	c.replayManager = replay.New(c.SessionManager, c.trustManager, s, env)
	c.importManager = importer.New(c.SessionManager, s, env)
	return c
}

// check ends the test with an error that is not nil.
func (c *Clone) check(err error) {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
}

// Redacts sets what replaces the secrets in additions to redacted sessions. Without it, nothing is replaced.
func (c *Clone) Redacts(r transaction.Redactor) { c.redactor.Redactor = r }

// A redactor is one that a test sets later.
type redactor struct{ transaction.Redactor }

// Document returns what the redactor of the test returns.
func (r *redactor) Document(ctx context.Context, tip string, always bool) (transaction.Redaction, error) {
	if r.Redactor == nil {
		return NoRedactor{}.Document(ctx, tip, always)
	}
	return r.Redactor.Document(ctx, tip, always)
}

// NoRedactor is the redactor of repositories in which nothing was redacted.
type NoRedactor struct{}

// Document returns nil.
func (NoRedactor) Document(context.Context, string, bool) (transaction.Redaction, error) {
	return nil, nil
}

// Settings stores the local state in memory.
type Settings struct {
	mu     sync.Mutex
	Values map[string][]string
	Adding func() // called before a value is added
}

// All returns the values of a key. It never fails.
func (s *Settings) All(_ context.Context, key string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.Values[key]), nil
}

// Change replaces the values of a key by those that change returns. It never fails.
func (s *Settings) Change(_ context.Context, key string, change func([]string) []string) error {
	s.mu.Lock()
	values := change(slices.Clone(s.Values[key]))
	grows := len(values) > len(s.Values[key])
	s.mu.Unlock()
	if grows && s.Adding != nil {
		s.Adding()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Values[key] = values; len(values) == 0 {
		delete(s.Values, key)
	}
	return nil
}

// versions adapts the repository for plugins.
type versions struct{ *gitstore.Store }

func (v versions) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return v.BeginVersion(ctx, base)
}

// WriteFile writes a file in the work tree and returns its path.
func (c *Clone) WriteFile(name, content string) string {
	c.T.Helper()
	path := filepath.Join(c.Dir, name)
	c.check(os.MkdirAll(filepath.Dir(path), 0o755))
	c.check(os.WriteFile(path, []byte(content), 0o644))
	return path
}

// ImportFile imports a file and returns its first session.
func (c *Clone) ImportFile(path string) engine.SaveResult {
	c.T.Helper()
	return c.ImportOne(importer.Request{Paths: []string{path}})
}

// ImportMarkdown imports a file as Markdown, even if it contains no message.
func (c *Clone) ImportMarkdown(path string) engine.SaveResult {
	c.T.Helper()
	return c.ImportOne(importer.Request{Paths: []string{path}, Format: string(engine.Markdown)})
}

// ImportOne imports documents without trouble and returns the first session.
func (c *Clone) ImportOne(r importer.Request) engine.SaveResult {
	c.T.Helper()
	result, err := c.Import(c.T.Context(), r)
	c.check(err)
	c.check(errors.Join(result.Bad...))
	return result.Sessions[0]
}

// Shown returns a revision as Markdown.
func (c *Clone) Shown(revision string) string { return c.ShownIn(revision, engine.Markdown) }

// ShownIn returns a revision in a form. It checks the size that is recorded.
func (c *Clone) ShownIn(revision string, form engine.Form) string {
	c.T.Helper()
	r, err := engine.ParseRevision(revision)
	c.check(err)
	var b bytes.Buffer
	c.check(c.Show(c.T.Context(), r, form, &b))
	info, err := c.Resolve(c.T.Context(), r)
	c.check(err)
	if form == engine.Markdown && r.Message < 0 && info.Bytes != int64(b.Len()) {
		c.T.Fatalf("%s has %d bytes, recorded are %d:\n%s", revision, b.Len(), info.Bytes, b.String())
	}
	return b.String()
}

// Appended appends a message of the user.
func (c *Clone) Appended(name, text string) domarkx.Info {
	c.T.Helper()
	info, err := c.Append(c.T.Context(), turns.AppendRequest{Name: name, New: true, Role: "user", Text: text})
	c.check(err)
	return info
}

// Saved saves a document that was read from the snapshot base.
func (c *Clone) Saved(name, base, data string) engine.SaveResult {
	c.T.Helper()
	saved, err := c.Save(c.T.Context(), engine.SaveRequest{Name: name, Base: base, Data: []byte(data), Operation: "edit"})
	c.check(err)
	return saved
}

// Trusted imports a document as the session name and trusts it.
func (c *Clone) Trusted(name, text string) domarkx.Info {
	c.T.Helper()
	c.ImportFile(c.WriteFile(name+".md", text))
	info := c.Tip(name)
	c.check(c.Trust(c.T.Context(), info))
	return info
}

// Tip returns the newest snapshot of a session.
func (c *Clone) Tip(name string) domarkx.Info {
	c.T.Helper()
	info, err := c.Resolve(c.T.Context(), engine.Revision{Name: name, Message: -1})
	c.check(err)
	return info
}

// Fsck fails the test if Git or the engine finds damage.
func (c *Clone) Fsck() {
	c.T.Helper()
	args := []string{"-C", c.Dir}
	if graphs, err := filepath.Glob(filepath.Join(c.Dir, ".git/objects/info/commit-graph*")); len(graphs) == 0 && err == nil {
		args = append(args, "-c", "core.commitGraph=false") // git starts a process even if there is none
	}
	if indexes, err := filepath.Glob(filepath.Join(c.Dir, ".git/objects/pack/multi-pack-index*")); len(indexes) == 0 && err == nil {
		args = append(args, "-c", "core.multiPackIndex=false")
	}
	if out, err := exec.Command("git", append(args, "fsck", "--strict")...).CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
		c.T.Fatalf("git fsck: %v\n%s", err, out)
	}
	list, err := c.List(c.T.Context())
	c.check(err)
	for _, info := range list {
		found, err := c.CheckSnapshot(c.T.Context(), info)
		if err != nil || len(found) > 0 {
			c.T.Fatalf("checking %s: %v %v", info.Name, found, err)
		}
	}
}
