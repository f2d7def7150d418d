package search_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// TestMain isolates the tests from the user's Git configuration.
func TestMain(m *testing.M) {
	for key, value := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "TZ": "UTC"} {
		os.Setenv(key, value)
	}
	os.Exit(shorttest.Main(m))
}

// A repository has sessions to search.
type repository struct {
	t        *testing.T
	dir      string
	store    *gitstore.Store
	sessions *engine.SessionManager
	now      time.Time
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	dir := t.TempDir()
	enginetest.Init(t, dir)
	return (&repository{t: t, dir: dir, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}).open()
}

// open returns the repository as another process sees it.
func (r *repository) open() *repository {
	r.t.Helper()
	g, err := gitcmd.Discover(r.t.Context(), r.dir, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	other := *r
	if other.store, err = gitstore.Open(r.t.Context(), g); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { other.store.Close() })
	other.sessions = engine.New(other.store, all.Codecs(), local.Environment{StateDir: g.StateDir(), Local: local.NewFile(g), Identity: func(context.Context) (author, committer domarkx.Signature, err error) {
		other.now = other.now.Add(time.Second)
		s := domarkx.Signature{Name: "Ann", Email: "ann@example.org", When: other.now}
		return s, s, nil
	}}, enginetest.NoRedactor{})
	return &other
}

// save makes the messages, of the user and the assistant in turn, those of a session.
func (r *repository) save(name string, messages ...string) {
	r.t.Helper()
	var text strings.Builder
	for i, m := range messages {
		fmt.Fprintf(&text, "## %s\n\n%s\n\n", [2]string{"user", "assistant"}[i%2], m)
	}
	base := ""
	if tip, err := r.store.Tip(r.t.Context(), name); err == nil {
		base = tip.ID
	}
	if _, err := r.sessions.Save(r.t.Context(), engine.SaveRequest{Name: name, Base: base, Data: []byte(text.String()), Operation: "test"}); err != nil {
		r.t.Fatal(err)
	}
}

// remove moves a session to the trash.
func (r *repository) remove(name string) {
	r.t.Helper()
	if err := r.store.Update(r.t.Context(), "rm", func(tx *gitstore.Tx) error { return tx.ToTrash(r.t.Context(), name) }); err != nil {
		r.t.Fatal(err)
	}
}

// find returns the messages that a query finds, sorted.
func (r *repository) find(q search.Query) []string {
	r.t.Helper()
	hits, err := search.Find(r.t.Context(), r.store, q, search.Options{Warn: func(err error) { r.t.Error(err) }})
	if err != nil {
		r.t.Fatalf("%+v: %v", q, err)
	}
	names := make([]string, len(hits))
	for i, h := range hits {
		names[i] = fmt.Sprintf("%s#%d", h.Session, h.K)
		if h.Snapshot != "" {
			names[i] = fmt.Sprintf("%s@…#%d", h.Session, h.K)
		}
	}
	slices.Sort(names)
	return names
}

func (r *repository) finds(q search.Query, want ...string) {
	r.t.Helper()
	if got := r.find(q); !slices.Equal(got, want) {
		r.t.Errorf("%+v found %q, expected %q", q, got, want)
	}
}

// each opens the index, and returns the hits of a query some at a time.
func (r *repository) each(q search.Query) iter.Seq2[[]search.Hit, error] {
	x, err := search.Open(r.t.Context(), r.store, search.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { x.Close() })
	return x.Hits(r.t.Context(), q)
}

func (r *repository) index() string { return filepath.Join(r.store.StateDir(), "search.db") }

// holds reports whether a file of the index contains a text.
func (r *repository) holds(text string) bool {
	r.t.Helper()
	files, err := filepath.Glob(r.index() + "*")
	if err != nil || len(files) == 0 {
		r.t.Fatalf("no index: %v", err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			r.t.Fatal(err)
		}
		if strings.Contains(strings.ToLower(string(data)), text) {
			return true
		}
	}
	return false
}

func words(text string) search.Query { return search.Query{Text: text} }
func fixed(text string) search.Query { return search.Query{Text: text, Kind: search.Fixed} }
