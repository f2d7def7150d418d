package gitcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func discover(t testing.TB, dir string, env ...string) *gitcmd.Git {
	t.Helper()
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env(env...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func mkdir(t testing.TB, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, path, content string, mode os.FileMode) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// A shape is the result of Discover.
type shape struct {
	GitDir, CommonDir, WorkTree, Prefix string
	Bare                                bool
}

func TestDiscover(t *testing.T) {
	plain := gittest.Init(t)
	gittest.Run(t, plain, "commit", "-q", "--allow-empty", "-m", "one")
	bare := gittest.Init(t, "--bare")
	place := filepath.Dir(gittest.Init(t))
	linked := filepath.Join(place, "linked")
	gittest.Run(t, plain, "worktree", "add", "-q", linked)
	gittest.Run(t, plain, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", plain, "module")
	newline := filepath.Join(place, "with\nnewline")
	gittest.Run(t, "", "init", "-q", newline)
	shared, sparse := filepath.Join(place, "shared"), filepath.Join(place, "sparse")
	gittest.Run(t, "", "clone", "-q", "--shared", plain, shared)
	gittest.Run(t, "", "clone", "-q", "--sparse", plain, sparse)
	separate := filepath.Join(place, "separate")
	gittest.Run(t, "", "init", "-q", "--separate-git-dir", filepath.Join(place, "elsewhere"), separate)
	git := filepath.Join(plain, ".git")
	tests := []struct {
		name, dir string
		env       []string
		want      shape
	}{
		{"plain", plain, nil, shape{GitDir: git, CommonDir: git, WorkTree: plain}},
		{"below", mkdir(t, plain, "a", "b"), nil, shape{GitDir: git, CommonDir: git, WorkTree: plain, Prefix: "a/b/"}},
		{"git directory", git, nil, shape{GitDir: git, CommonDir: git}},
		{"bare", bare, nil, shape{GitDir: bare, CommonDir: bare, Bare: true}},
		{"linked worktree", linked, nil, shape{GitDir: filepath.Join(git, "worktrees", "linked"), CommonDir: git, WorkTree: linked}},
		{"submodule", filepath.Join(plain, "module"), nil, shape{GitDir: filepath.Join(git, "modules", "module"), CommonDir: filepath.Join(git, "modules", "module"), WorkTree: filepath.Join(plain, "module")}},
		{"newline", newline, nil, shape{GitDir: newline + "/.git", CommonDir: newline + "/.git", WorkTree: newline}},
		{"shared", shared, nil, shape{GitDir: shared + "/.git", CommonDir: shared + "/.git", WorkTree: shared}},
		{"sparse", sparse, nil, shape{GitDir: sparse + "/.git", CommonDir: sparse + "/.git", WorkTree: sparse}},
		{"separate", separate, nil, shape{GitDir: filepath.Join(place, "elsewhere"), CommonDir: filepath.Join(place, "elsewhere"), WorkTree: separate}},
		{"GIT_DIR", place, []string{"GIT_DIR=" + bare}, shape{GitDir: bare, CommonDir: bare, Bare: true}},
		{"GIT_DIR and GIT_WORK_TREE, relative", plain, []string{"GIT_DIR=.git", "GIT_WORK_TREE=a"}, shape{GitDir: git, CommonDir: git, WorkTree: plain + "/a"}},
		{"GIT_DIR alone", filepath.Join(plain, "a"), []string{"GIT_DIR=../.git"}, shape{GitDir: git, CommonDir: git, WorkTree: plain + "/a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := discover(t, test.dir, test.env...)
			got := shape{g.GitDir, g.CommonDir, g.WorkTree, g.Prefix, g.Bare}
			if got != test.want || g.Hash != oid.SHA1 || g.Reftable {
				t.Errorf("Discover =\n%+v\nwant\n%+v", got, test.want)
			}
			if want := filepath.Join(g.CommonDir, "objects"); g.ObjectDir != want {
				t.Errorf("ObjectDir = %q, want %q", g.ObjectDir, want)
			}
			out, err := g.Run(t.Context(), nil, "rev-parse", "--absolute-git-dir")
			if strings.TrimSuffix(string(out), "\n") != test.want.GitDir || err != nil {
				t.Errorf("a later git works in %q, %v", out, err)
			}
		})
	}
}

func TestDiscoverSHA256(t *testing.T) {
	if g := discover(t, gittest.Init(t, "--object-format=sha256")); g.Hash != oid.SHA256 {
		t.Errorf("the hash function is %s", g.Hash)
	}
}

func TestDiscoverRefuses(t *testing.T) {
	empty := t.TempDir()
	foreign := gittest.Init(t)
	reftable := gittest.Init(t)
	gittest.Run(t, reftable, "config", "core.repositoryFormatVersion", "1")
	gittest.Run(t, reftable, "config", "extensions.refStorage", "reftable")
	hidden := gittest.Init(t)
	mkdir(t, hidden, ".git", "reftable")
	unknown := gittest.Init(t)
	gittest.Run(t, unknown, "config", "core.repositoryFormatVersion", "1")
	gittest.Run(t, unknown, "config", "extensions.fromTheFuture", "true")
	short := gittest.Init(t, "--object-format=sha256")
	gittest.Run(t, short, "config", "core.repositoryFormatVersion", "0")
	strange := gittest.Init(t, "--object-format=sha256")
	gittest.Run(t, strange, "config", "extensions.objectFormat", "md5")
	loose := gittest.Init(t)
	gittest.Run(t, loose, "hash-object", "-w", ".git/HEAD")
	packed := gittest.Init(t)
	gittest.Commits(t, packed, 1)
	for _, dir := range []string{loose, packed} {
		gittest.Run(t, dir, "config", "core.repositoryFormatVersion", "1")
		gittest.Run(t, dir, "config", "extensions.objectFormat", "sha256")
	}
	tests := []struct {
		name, dir string
		env       []string
		want      error
		words     string
	}{
		{"extensions in version 0", short, nil, domarkx.ErrUnsupported, "core.repositoryFormatVersion to 1"},
		{"unknown hash function", strange, nil, domarkx.ErrUnsupported, "does not know"},
		{"loose object of another hash function", loose, nil, domarkx.ErrUnsupported, "correct extensions.objectFormat"},
		{"pack of another hash function", packed, nil, domarkx.ErrUnsupported, "correct extensions.objectFormat"},
		{"no repository", empty, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(empty)}, nil, "is not in a Git repository; go into one, or make one here: git init"},
		{"missing GIT_DIR", empty, []string{"GIT_DIR=" + empty + "/x"}, nil, "not a git repository"},
		{"unsafe", foreign, []string{"GIT_TEST_ASSUME_DIFFERENT_OWNER=1"}, nil, "safe.directory"},
		{"reftable", reftable, nil, domarkx.ErrUnsupported, "reftable"},
		{"reftable that git overlooks", hidden, nil, domarkx.ErrUnsupported, "reftable"},
		{"unknown extension", unknown, nil, domarkx.ErrUnsupported, "fromthefuture"},
		{"no git", foreign, []string{"PATH=" + empty}, nil, "install Git 2.36"},
	}
	version, err := discover(t, foreign).Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.words == "reftable" && !version.Less(gitcmd.Version{Major: 2, Minor: 45}) {
				t.Skip("this git reads the reftable backend")
			}
			_, err := gitcmd.Discover(t.Context(), test.dir, gittest.Env(test.env...))
			if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("Discover: %v, want %v with %q", err, test.want, test.words)
			}
		})
	}
}

// TestRequireVersion uses a fake git that is too old.
func TestRequireVersion(t *testing.T) {
	dir := gittest.Init(t)
	real, err := filepath.Abs(gittest.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	fake := func(version string) {
		write(t, filepath.Join(bin, "git"), "#!/bin/sh\ntest \"$1\" = version && { echo 'git version "+version+"'; exit; }\n"+
			"for a; do shift; test $a != --show-ref-format || a=--unknown; set -- \"$@\" $a; done\nexec '"+real+"' \"$@\"\n", 0o755)
	}
	env := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	fake("2.35.8 (Vendor Git-1)")
	if err := discover(t, dir, env).RequireVersion(t.Context()); !errors.Is(err, domarkx.ErrUnsupported) || !strings.Contains(err.Error(), "2.35") || !strings.Contains(err.Error(), "2.36") {
		t.Errorf("Git 2.35: %v", err)
	}
	fake("2.100.1")
	if err := discover(t, dir, env).RequireVersion(t.Context()); err != nil {
		t.Errorf("Git 2.100: %v", err)
	}
}

func TestDir(t *testing.T) {
	dir := gittest.Init(t)
	below := mkdir(t, dir, "a", "b")
	tests := []struct {
		name, at string
		env      []string
		want     string
	}{
		{"plain", below, nil, below},
		{"alias", dir, []string{"GIT_PREFIX=a/b/"}, below},
		{"alias that went elsewhere", filepath.Join(dir, "a"), []string{"GIT_PREFIX=a/b/"}, filepath.Join(dir, "a")},
		{"hostile", dir, []string{"GIT_PREFIX=../../"}, dir},
		{"gone", dir, []string{"GIT_PREFIX=c/"}, dir},
	}
	for _, test := range tests {
		if got := discover(t, test.at, test.env...).Dir(); got != test.want {
			t.Errorf("%s: Dir = %q, want %q", test.name, got, test.want)
		}
	}
	// The working directory may be removed while the program runs.
	g := discover(t, below)
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Run(t.Context(), nil, "rev-parse", "--git-dir"); err != nil {
		t.Errorf("after the directory was removed: %v", err)
	}
}
