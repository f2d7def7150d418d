package gitrepository_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestShallowClone clones a shallow repository.
func TestShallowClone(t *testing.T) {
	isolate(t)
	from, shallow := upstream(t), filepath.Join(t.TempDir(), "shallow")
	git(t, from, "commit", "-q", "--allow-empty", "-m", "newest")
	git(t, t.TempDir(), "clone", "-q", "--depth", "1", "file://"+from, shallow)
	r := open(t, domarkx.Env{Config: value(t, `{"url": "file://`+shallow+`"}`), Allow: domarkx.Allow{URLs: []string{"file:///"}}})
	if got := run(t, r, "log", `{}`); strings.Count(got, `"subject"`) != 1 || !strings.Contains(got, "newest") {
		t.Error(got)
	}
	if got := run(t, r, "read_file", `{"path": "f"}`); !strings.Contains(got, "one") {
		t.Error(got)
	}
}

// TestSparse works in a sparse checkout, whose settings are in a separate file.
func TestSparse(t *testing.T) {
	isolate(t)
	r := open(t, domarkx.Env{Config: value(t, `{}`)})
	run(t, r, "write_file", `{"path": "in/a", "content": "1\n"}`)
	run(t, r, "write_file", `{"path": "out/b", "content": "1\n"}`)
	run(t, r, "commit", `{"message": "first", `+signed+`}`)
	git(t, pathOf(r), "sparse-checkout", "set", "in")
	run(t, r, "write_file", `{"path": "in/a", "content": "2\n"}`)
	if got := run(t, r, "status", `{}`); strings.Count(got, `"path"`) != 1 || !strings.Contains(got, "in/a") {
		t.Error(got)
	}
	run(t, r, "commit", `{"message": "second", `+signed+`}`)
	if got := git(t, pathOf(r), "ls-tree", "-r", "--name-only", "HEAD"); got != "in/a\nout/b" {
		t.Errorf("the commit has %q", got)
	}
	if err := os.Symlink("config", filepath.Join(pathOf(r), ".git", "config.link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(pathOf(r), ".git", "config.link"), filepath.Join(pathOf(r), ".git", "config.worktree")); err != nil {
		t.Fatal(err)
	}
	refused(t, r, domarkx.CodeRefused, "status", `{}`)
}

// TestRepositoryInTheWorkTree checks that a nested repository is committed as its current commit.
func TestRepositoryInTheWorkTree(t *testing.T) {
	isolate(t)
	r := open(t, domarkx.Env{Config: value(t, `{}`)})
	run(t, r, "write_file", `{"path": "f", "content": "1\n"}`)
	run(t, r, "commit", `{"message": "first", `+signed+`}`)
	inner := filepath.Join(pathOf(r), "inner")
	git(t, pathOf(r), "init", "-q", "inner")
	run(t, r, "write_file", `{"path": "f", "content": "2\n"}`)
	refused(t, r, domarkx.CodeFailed, "commit", `{"message": "an empty repository"}`)
	if got := git(t, pathOf(r), "diff", "--cached", "--name-only"); got != "" {
		t.Errorf("a commit that failed staged %q", got)
	}
	for _, message := range []string{"one", "two"} {
		git(t, inner, "commit", "-q", "--allow-empty", "-m", message)
		if got := run(t, r, "status", `{}`); !strings.Contains(got, `"inner`) {
			t.Errorf("%s: %s", message, got)
		}
		run(t, r, "commit", `{"message": "with `+message+`", `+signed+`}`)
		want := "160000 commit " + git(t, inner, "rev-parse", "HEAD") + "\tinner"
		if got := git(t, pathOf(r), "ls-tree", "HEAD", "inner"); got != want {
			t.Errorf("%s: the commit has %q, expected %q", message, got, want)
		}
		if got := run(t, r, "status", `{}`); !strings.Contains(strings.ReplaceAll(got, " ", ""), `"files":[]`) {
			t.Errorf("%s: %s", message, got)
		}
	}
}

// TestLinkedWorkTreeMakesNoVersion checks that a linked work tree is refused, also by a commit before
// any call of a tool.
// TestFiltered: a file that a filter such as Git LFS would convert is not committed as it is.
func TestFiltered(t *testing.T) {
	isolate(t)
	r := open(t, domarkx.Env{Config: value(t, `{}`), Dir: t.TempDir()})
	run(t, r, "write_file", `{"path": ".gitattributes", "content": "*.bin filter=lfs\nown.bin -filter\n"}`)
	run(t, r, "write_file", `{"path": "gone.bin", "content": "x"}`)
	git(t, pathOf(r), "add", ".")
	git(t, pathOf(r), "commit", "-q", "-m", "one")
	run(t, r, "delete", `{"path": "gone.bin"}`)
	run(t, r, "write_file", `{"path": "a.bin", "content": "large"}`)
	run(t, r, "write_file", `{"path": "own.bin", "content": "x"}`)
	refused(t, r, domarkx.CodeRefused, "commit", `{"message": "all"}`)
	run(t, r, "commit", `{"message": "others", "paths": ["gone.bin", "own.bin"]}`)
	if got := git(t, pathOf(r), "ls-files"); strings.TrimSpace(got) != ".gitattributes\nown.bin" {
		t.Errorf("committed: %s", got)
	}
}

func TestLinkedWorkTreeMakesNoVersion(t *testing.T) {
	isolate(t)
	top := t.TempDir()
	write(t, filepath.Join(top, "linked", ".git"), "gitdir: /elsewhere/.git/worktrees/linked\n")
	r := open(t, domarkx.Env{Config: value(t, `{"path": "linked"}`), WorkTree: top})
	w, err := plugintest.NewMemory().Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), w); err == nil || !strings.Contains(err.Error(), "clone it") {
		t.Errorf("%v, expected what to do", err)
	}
}
