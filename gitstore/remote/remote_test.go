package remote_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/remote"
)

func discover(t testing.TB, dir string) *gitcmd.Git {
	t.Helper()
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestFind(t *testing.T) {
	dir := gittest.Init(t)
	other := gittest.Init(t)
	find := func(name string) (remote.Remote, error) { return remote.Find(t.Context(), discover(t, dir), name) }

	if _, err := find(""); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("without remotes: %v", err)
	}
	gittest.Run(t, dir, "config", "remote.pushDefault", "nowhere") // does not configure a remote
	gittest.Run(t, dir, "remote", "add", "only", "https://example.com/x")
	if r, err := find(""); r.Name != "only" || err != nil {
		t.Errorf("the only one: %v, %v", r, err)
	}
	gittest.Run(t, dir, "remote", "add", "zweite", "https://example.com/y")
	if _, err := find(""); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("two without origin: %v", err)
	}
	gittest.Run(t, dir, "remote", "add", "origin", "https://example.com/z")
	if r, err := find(""); r.Name != "origin" || err != nil {
		t.Errorf("origin: %v, %v", r, err)
	}
	gittest.Run(t, dir, "config", "domarkx.remote", "zweite")
	if r, err := find(""); r.Name != "zweite" || err != nil {
		t.Errorf("domarkx.remote: %v, %v", r, err)
	}
	for _, name := range []string{"nowhere", "-x", "--upload-pack=touch x", "../missing", "a\nb"} {
		if r, err := find(name); err == nil {
			t.Errorf("Find(%q) = %v", name, r)
		}
	}
	if r, err := find(other); err != nil || !strings.HasPrefix(r.Prefix(), "refs/domarkx-remotes/@repository-") {
		t.Errorf("a path: %v, %v", r, err)
	}
	relative, err := filepath.Rel(dir, other)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := find(other)
	if b, err := find(relative); err != nil || a.Prefix() != b.Prefix() {
		t.Errorf("a relative path: %v, %v, want %v", b, err, a)
	}
}

func TestPrefix(t *testing.T) {
	dir := gittest.Init(t)
	for _, name := range []string{"a", "a/sessions", "a.b", "with%2Fpercent", "ä", "x.lock.y"} {
		gittest.Run(t, dir, "config", "remote."+name+".url", "https://example.com/x")
	}
	g := discover(t, dir)
	tests := []struct{ name, want string }{
		{"a", "a"},
		{"a/sessions", "a%2Fsessions"},
		{"a.b", "a.b"},
		{"with%2Fpercent", "with%252Fpercent"},
		{"ä", "ä"},
		{"x.lock.y", "x%2Elock.y"},
	}
	for _, test := range tests {
		r, err := remote.Find(t.Context(), g, test.name)
		if err != nil || r.Prefix() != "refs/domarkx-remotes/"+test.want+"/" {
			t.Errorf("Find(%q): %q, %v, want %q", test.name, r.Prefix(), err, test.want)
		}
		if err := gittest.Try(dir, "check-ref-format", r.Prefix()+"sessions/x"); err != nil {
			t.Errorf("git refuses %q", r.Prefix())
		}
		if back := r.Shared(r.Tracking("refs/domarkx/sessions/x")); back != "refs/domarkx/sessions/x" {
			t.Errorf("there and back: %q", back)
		}
	}
	prefixes := map[string]bool{}
	for _, name := range []string{"https://example.com/a/b.git", "https://example.com/c/b.git", "host:b.git", "ssh://git@host/b", "https://u:p@example.com/..", "x::y z"} {
		r, err := remote.Find(t.Context(), g, name)
		if err != nil || prefixes[r.Prefix()] || gittest.Try(dir, "check-ref-format", r.Prefix()+"sessions/x") != nil {
			t.Errorf("Find(%q): %q, %v", name, r.Prefix(), err)
		}
		prefixes[r.Prefix()] = true
	}
	a, _ := remote.Find(t.Context(), g, "https://one:token@example.com/b")
	b, _ := remote.Find(t.Context(), g, "https://two:other@example.com/b")
	if a.Prefix() != b.Prefix() {
		t.Errorf("another token is another remote: %q, %q", a.Prefix(), b.Prefix())
	}
}
