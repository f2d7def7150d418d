package engine_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins"
)

// TestMain isolates the tests from the user's Git configuration.
func TestMain(m *testing.M) {
	for key, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "TZ": "UTC",
	} {
		os.Setenv(key, value)
	}
	os.Exit(m.Run())
}

type (
	trustManager  = trust.Manager
	turnsManager  = turns.Manager
	importManager = importer.Manager
)

// A clone is a repository with its manager and a clock that advances by a second on each use.
type clone struct {
	*engine.SessionManager
	*trustManager
	*turnsManager
	*importManager
	t          *testing.T
	dir        string
	now        time.Time
	settings   *settings
	workspaces *plugins.WorkspaceManager
	notes      *notes
	store      *gitstore.Store
	decoded    int    // number of full reads of growing documents
	messages   int    // number of messages created from such documents
	reading    func() // called before each read
}

// codecs returns all codecs, with counters for those of growing documents.
func (c *clone) codecs() []format.Codec {
	codecs := all.Codecs()
	for i, codec := range codecs {
		if codec.Grow == nil {
			continue
		}
		codecs[i].Open = func(f format.File) iter.Seq2[format.Stream, error] {
			c.decoded++
			if c.reading != nil {
				c.reading()
			}
			return func(yield func(format.Stream, error) bool) {
				for s, err := range codec.Open(f) {
					if shared, ok := s.Messages.(sharedMessages); ok {
						s.Messages = countedMessages{shared, &c.messages}
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

func newClone(t *testing.T) *clone {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return openClone(t, dir, &settings{values: map[string][]string{}})
}

// openClone opens a repository with its own manager.
func openClone(t *testing.T, dir string, kept *settings) *clone {
	t.Helper()
	c := &clone{t: t, dir: dir, now: time.Unix(1_700_000_000, 0).UTC()}
	git, err := gitcmd.Discover(t.Context(), c.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gitstore.Open(t.Context(), git)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c.settings, c.notes, c.store = kept, &notes{}, s
	c.workspaces = plugins.New([]domarkx.Plugin{c.notes}, versions{s}, plugins.Config{Dir: filepath.Join(git.StateDir(), "workspaces"), WorkTree: git.WorkTree, Grace: time.Second})
	env := local.Environment{
		StateDir: git.StateDir(), WorkTree: git.WorkTree,
		Identity: func(context.Context) (a, b domarkx.Signature, err error) {
			c.now = c.now.Add(time.Second)
			who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: c.now}
			return who, who, nil
		},
		Workspaces: c.workspaces, Local: c.settings,
	}
	c.SessionManager, c.trustManager = engine.New(s, c.codecs(), env), trust.New(s, env)
	c.turnsManager = turns.New(c.SessionManager, c.trustManager, s, env)
	c.importManager = importer.New(c.SessionManager, c.trustManager, s, c.codecs(), env)
	return c
}

// settings stores the local state in memory.
type settings struct {
	mu     sync.Mutex
	values map[string][]string
	adding func() // called before a value is added
}

func (s *settings) All(_ context.Context, key string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values[key]), nil
}

func (s *settings) Change(_ context.Context, key string, change func([]string) []string) error {
	s.mu.Lock()
	values := change(slices.Clone(s.values[key]))
	grows := len(values) > len(s.values[key])
	s.mu.Unlock()
	if grows && s.adding != nil {
		s.adding()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key] = values; len(values) == 0 {
		delete(s.values, key)
	}
	return nil
}

// versions adapts the repository for plugins.
type versions struct{ *gitstore.Store }

func (v versions) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return v.BeginVersion(ctx, base)
}

func (c *clone) write(name, content string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return path
}

func (c *clone) importFile(path string) engine.SaveResult {
	c.t.Helper()
	return c.importOne(importer.Request{Paths: []string{path}})
}

// importMarkdown imports a file as Markdown, even if it contains no message.
func (c *clone) importMarkdown(path string) engine.SaveResult {
	c.t.Helper()
	return c.importOne(importer.Request{Paths: []string{path}, Format: string(engine.Markdown)})
}

func (c *clone) importOne(r importer.Request) engine.SaveResult {
	c.t.Helper()
	result, err := c.Import(c.t.Context(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, bad := range result.Bad {
		c.t.Fatal(bad)
	}
	return result.Sessions[0]
}

func (c *clone) show(revision string) string { return c.shown(revision, engine.Markdown) }

func (c *clone) shown(revision string, form engine.Form) string {
	c.t.Helper()
	r, err := engine.ParseRevision(revision)
	if err != nil {
		c.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := c.Show(c.t.Context(), r, form, &b); err != nil {
		c.t.Fatal(err)
	}
	info, err := c.Resolve(c.t.Context(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	if form == engine.Markdown && r.Message < 0 && info.Bytes != int64(b.Len()) {
		c.t.Fatalf("%s has %d bytes, recorded are %d:\n%s", revision, b.Len(), info.Bytes, b.String())
	}
	return b.String()
}

func (c *clone) append(name, text string) domarkx.Info {
	c.t.Helper()
	info, err := c.Append(c.t.Context(), turns.AppendRequest{Name: name, New: true, Role: "user", Text: text})
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

func (c *clone) save(name, base, data string) engine.SaveResult {
	c.t.Helper()
	saved, err := c.Save(c.t.Context(), engine.SaveRequest{Name: name, Base: base, Data: []byte(data), Operation: "edit"})
	if err != nil {
		c.t.Fatal(err)
	}
	return saved
}

func (c *clone) tip(name string) domarkx.Info {
	c.t.Helper()
	info, err := c.Resolve(c.t.Context(), engine.Revision{Name: name, Message: -1})
	if err != nil {
		c.t.Fatal(err)
	}
	return info
}

// fsck fails the test if Git or the engine finds damage.
func (c *clone) fsck() {
	c.t.Helper()
	if out, err := exec.Command("git", "-C", c.dir, "fsck", "--strict").CombinedOutput(); err != nil || strings.Contains(string(out), "error") {
		c.t.Fatalf("git fsck: %v\n%s", err, out)
	}
	list, err := c.List(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, info := range list {
		found, err := c.CheckSnapshot(c.t.Context(), info)
		if err != nil || len(found) > 0 {
			c.t.Fatalf("checking %s: %v %v", info.Name, found, err)
		}
	}
}
