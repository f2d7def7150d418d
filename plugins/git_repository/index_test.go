package gitrepository_test

import (
	"bytes"
	"crypto/sha1"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/index"

	gitrepository "github.com/domarkx/domarkx/plugins/git_repository"
)

// TestCanonicalIndex checks that git reads canonical indexes as it reads the originals.
func TestCanonicalIndex(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for i, name := range []string{"a", "dir/b", "dir/c", "ü", strings.Repeat("n", 200), strings.Repeat("d/", 100) + strings.Repeat("x", 3900)[:200]} {
		write(t, filepath.Join(dir, name), strings.Repeat("x", i))
	}
	git(t, dir, "add", ".")
	path := filepath.Join(dir, ".git", "index")
	for _, version := range []string{"2", "3", "4"} {
		if version == "3" {
			git(t, dir, "update-index", "--skip-worktree", "a") // requires version 3
		} else {
			git(t, dir, "update-index", "--index-version", version)
		}
		git(t, dir, "write-tree") // adds the extension TREE
		before := git(t, dir, "ls-files", "--stage", "-v")
		index, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		canonical := gitrepository.Canonical(index)
		if bytes.Equal(canonical, index) {
			t.Errorf("version %s: nothing was removed", version)
		}
		if again := gitrepository.Canonical(canonical); !bytes.Equal(again, canonical) {
			t.Errorf("version %s: the result is not canonical", version)
		}
		if err := os.WriteFile(path, canonical, 0o644); err != nil {
			t.Fatal(err)
		}
		if after := git(t, dir, "ls-files", "--stage", "-v"); after != before {
			t.Errorf("version %s:\n%s\nexpected\n%s", version, after, before)
		}
		if status := git(t, dir, "diff", "--name-only"); status != "" {
			t.Errorf("version %s: %s", version, status)
		}
	}
}

// TestGoGitLosesIndexData checks why go-git does not encode canonical indexes: it drops the
// assume-unchanged flag, which a version must keep. If this fails, go-git may be able to
// replace the code in index.go.
func TestGoGitLosesIndexData(t *testing.T) {
	isolate(t)
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	write(t, filepath.Join(dir, "a"), "x")
	git(t, dir, "add", ".")
	git(t, dir, "update-index", "--assume-unchanged", "a")
	path := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var decoded index.Index
	if err := index.NewDecoder(bytes.NewReader(before)).Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	var after bytes.Buffer
	if err := index.NewEncoder(&after).Encode(&decoded); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, after.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if flags := git(t, dir, "ls-files", "-v"); flags != "H a" {
		t.Errorf("go-git keeps %q", flags)
	}
	if err := os.WriteFile(path, gitrepository.Canonical(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if flags := git(t, dir, "ls-files", "-v"); flags != "h a" {
		t.Errorf("the canonical index has %q", flags)
	}
}

func FuzzCanonicalIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("h", sha1.Size)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 62) + "\x00a\x00" + "TREE\x00\x00\x00\x01xREUC\x00\x00\x00\x00" + strings.Repeat("h", sha1.Size)))
	f.Add([]byte("DIRC\x00\x00\x00\x03\xff\xff\xff\xff" + strings.Repeat("\x00", 200)))
	f.Fuzz(func(t *testing.T, index []byte) {
		given := bytes.Clone(index)
		canonical := gitrepository.Canonical(index)
		if !bytes.Equal(index, given) {
			t.Error("changed what it was given")
		}
		if len(canonical) > len(index) {
			t.Error("it grew")
		}
		if again := gitrepository.Canonical(canonical); !bytes.Equal(again, canonical) {
			t.Error("it is not canonical")
		}
	})
}
