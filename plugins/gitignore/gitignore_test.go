package gitignore_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/gitignore"
	"pgregory.net/rapid"
)

// ignored returns the paths that git ignores in a repository.
func ignored(t testing.TB, top string, paths []string) map[string]bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Dir = top
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	cmd.Stdin = strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	list := map[string]bool{}
	for path := range bytes.SplitSeq(out, []byte{0}) {
		list[string(path)] = true
	}
	return list
}

func repository(t testing.TB) string {
	t.Helper()
	top := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "git", "init", "-q", top)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range []string{"a/b/c", "ab/c", "b/a"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

// The directories and files that are looked up.
var (
	directories = []string{"a", "a/b", "a/b/c", "ab", "ab/c", "b", "b/a"}
	files       = []string{"f", "a.o", "-", "!x", "#x", "x ", "a/f", "a/a.o", "a/b/f", "a/b/a.o", "a/b/c/f", "a/b/c/[a]", "ab/c/f", "ab/f", "b/a/f", "b/f", "\\", "a/b/c/é"}
)

// excluded applies rules as a walk does: files in an excluded directory are excluded.
func excluded(stack func(dir string) *gitignore.Stack, path string, directory bool) bool {
	parts := strings.Split(path, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		if stack(strings.Join(parts[:i], "/")).Excludes(at, i+1 < len(parts) || directory) {
			return true
		}
	}
	return false
}

// TestLikeGit compares random patterns in two directories with git check-ignore.
func TestLikeGit(t *testing.T) {
	top := repository(t)
	piece := rapid.SampledFrom([]string{"a", "b", "c", "f", "*", "**", "?", "/", "/", "!", "\\", "[", "]", "[ab]", "[!a]", "[^a]", "[a-c]", "[[:alpha:]]", "[[:x:]]", "-", ".o", " ", "#", "é", "**/", "/**", "[]a]", "[\\]]", "[:", "[a-"})
	line := rapid.Map(rapid.SliceOfN(piece, 0, 6), func(s []string) string { return strings.Join(s, "") })
	text := rapid.Map(rapid.SliceOfN(line, 0, 5), func(s []string) string { return strings.Join(s, "\n") })
	rapid.Check(t, func(rt *rapid.T) {
		outer, inner := text.Draw(rt, "top"), text.Draw(rt, "a")
		for name, content := range map[string]string{".gitignore": outer, "a/.gitignore": inner} {
			if err := os.WriteFile(filepath.Join(top, name), []byte(content), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		var base *gitignore.Stack
		base = base.With(gitignore.Parse("", []byte(outer)))
		below := base.With(gitignore.Parse("a", []byte(inner)))
		stack := func(dir string) *gitignore.Stack {
			if dir == "a" || strings.HasPrefix(dir, "a/") {
				return below
			}
			return base
		}
		want := ignored(t, top, append(append([]string{}, directories...), files...))
		for i, path := range append(append([]string{}, directories...), files...) {
			if got := excluded(stack, path, i < len(directories)); got != want[path] {
				rt.Errorf("%q: %t, git says %t; top %q, a %q", path, got, want[path], outer, inner)
			}
		}
	})
}

func TestParse(t *testing.T) {
	for line, want := range map[string]string{ // the paths that are excluded
		"x":             "x dir/x",
		"/x":            "x",
		"x/":            "",
		"dir/":          "dir",
		"dir/x":         "dir/x",
		"\xef\xbb\xbfx": "x dir/x",
		"x\r":           "x dir/x",
		"x  ":           "x dir/x",
		"x\\ ":          "",
		"\\x":           "x dir/x",
		"#x":            "",
		"*\n!x":         "dir",
		"**/x":          "x dir/x",
		"dir/**":        "dir/x",
		"":              "",
		"/":             "",
		"!":             "",
	} {
		var stack *gitignore.Stack
		stack = stack.With(gitignore.Parse("", []byte(line)))
		var got []string
		for _, path := range []string{"x", "dir", "dir/x"} {
			if stack.Excludes(path, path == "dir") {
				got = append(got, path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q excludes %q, expected %q", line, got, want)
		}
	}
}

// TestHostile matches patterns that would take a naive matcher forever.
func TestHostile(t *testing.T) {
	for _, pattern := range []string{strings.Repeat("a*", 200) + "b", strings.Repeat("**/", 200) + "b", strings.Repeat("*/", 100) + strings.Repeat("**/a", 50) + "b", strings.Repeat("[a]*", 100) + "b"} {
		start := time.Now()
		var stack *gitignore.Stack
		stack = stack.With(gitignore.Parse("", []byte(pattern)))
		if stack.Excludes(strings.Repeat("a", 200), false) || stack.Excludes(strings.Repeat("a/", 200)+"a", false) {
			t.Errorf("%.20q matches", pattern)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.20q took %v", pattern, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("*.o\n!a.o\n/build/\n[a-z]\\"), "a/b.o")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		var stack *gitignore.Stack
		stack = stack.With(gitignore.Parse("dir", data))
		if stack.Excludes(path, true) && !strings.HasPrefix(path, "dir/") {
			t.Errorf("%q excludes %q outside of its directory", data, path)
		}
	})
}
