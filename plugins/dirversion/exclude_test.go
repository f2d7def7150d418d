package dirversion_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestExcludeLikeGit compares the files that a version lacks with those that git check-ignore names, for random patterns.
func TestExcludeLikeGit(t *testing.T) {
	top := gittest.Init(t)
	files := []string{"a", "b", "f.o", "[x]", "!n", "x y", "d/a", "d/b", "d/f.o", "d/e/a", "d/e/f.o", "d/e/g/a", "e/a", "e/d/b", "g/d/e/a", "g/f.o"}
	for _, name := range files {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	piece := rapid.SampledFrom([]string{"a", "b", "d", "e", "f", "g", "*", "?", ".o", "[ab]", "[!a]", "[^d]", "[a-e]", "[[]", `\[`, `\!`, "x", " y", "!n"})
	join := func(s []string) string { return strings.Join(s, "") }
	name := rapid.Map(rapid.SliceOfN(piece, 1, 3), join).Filter(func(s string) bool { return !strings.Contains(s, "**") })
	path := rapid.Map(rapid.SliceOfN(rapid.OneOf(name, rapid.Just("**")), 1, 4), func(s []string) string { return strings.Join(s, "/") })
	slash := rapid.SampledFrom([]string{"", "", "/"})
	rapid.Check(t, func(rt *rapid.T) {
		var patterns []string
		for range rapid.IntRange(1, 3).Draw(rt, "patterns") {
			patterns = append(patterns, slash.Draw(rt, "from the top")+path.Draw(rt, "path")+slash.Draw(rt, "directories"))
		}
		f, err := dirversion.Open(dirversion.Config{Path: top, Exclude: append([]string{"/.git/"}, patterns...)})
		if errors.Is(err, domarkx.ErrInvalid) {
			rt.Skip("a pattern that is refused")
		}
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		m := plugintest.NewMemory()
		w, err := m.Begin(t.Context(), "")
		if err != nil {
			rt.Fatal(err)
		}
		if err := f.Commit(t.Context(), w); err != nil {
			rt.Fatal(err)
		}
		version, err := w.Finish(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		var got []string
		err = domarkx.WalkVersion(t.Context(), m, version, func(at string, f domarkx.File) error {
			if f.Type == domarkx.Regular {
				got = append(got, at)
			}
			return nil
		})
		slices.Sort(got)
		if want := kept(t, top, files, patterns); err != nil || !slices.Equal(got, want) {
			rt.Errorf("%q: the version has %q, git keeps %q, %v", patterns, got, want, err)
		}
	})
}

// kept returns the files that git does not ignore with patterns.
func kept(t *testing.T, top string, files, patterns []string) []string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(top, ".git/info/exclude"), []byte(strings.Join(patterns, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "check-ignore", "-z", "--stdin", "--no-index")
	cmd.Dir, cmd.Env, cmd.Stdin = top, gittest.Env(), strings.NewReader(strings.Join(files, "\x00")+"\x00")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatal(err)
	}
	ignored := bytes.Split(out, []byte{0})
	left := slices.DeleteFunc(slices.Clone(files), func(name string) bool {
		return slices.ContainsFunc(ignored, func(i []byte) bool { return string(i) == name })
	})
	slices.Sort(left)
	return left
}
