package recording_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

// TestFindRepository compares the search with that of git.
func TestFindRepository(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out[:max(len(out)-1, 0)])
	}
	main, linked, bare, beside := filepath.Join(home, "main"), filepath.Join(home, "linked"), filepath.Join(home, "bare.git"), filepath.Join(home, "beside")
	git(home, "init", "-q", main)
	git(main, "commit", "-q", "--allow-empty", "-m", "first")
	git(main, "worktree", "add", "-q", linked)
	git(home, "clone", "-q", "--bare", main, bare)
	git(bare, "worktree", "add", "-q", beside)
	git(home, "init", "-q", "--separate-git-dir", filepath.Join(home, "git"), filepath.Join(home, "apart"))
	for _, dir := range []string{main + "/a/b", linked + "/c", main + "/nested", main + "/fake/.git"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	git(home, "init", "-q", main+"/nested")
	for dir, tree := range map[string]string{main: main, main + "/a/b": main, main + "/gone/away": main, linked + "/c": main,
		main + "/nested": main + "/nested", main + "/fake": main, beside: beside, home + "/apart": home + "/apart"} {
		common, at, ok := recording.FindRepository(dir)
		if !ok || at != tree {
			t.Errorf("%s: found %v, tree %q, expected %q", dir, ok, at, tree)
		}
		if want := git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir"); common != want {
			t.Errorf("%s: common directory %q, expected %q", dir, common, want)
		}
	}
	for _, dir := range []string{home, "relative", ""} {
		if common, _, ok := recording.FindRepository(dir); ok {
			t.Errorf("%q: found %q", dir, common)
		}
	}
}
