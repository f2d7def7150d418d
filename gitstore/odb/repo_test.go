package odb_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func TestMain(m *testing.M) {
	for _, name := range os.Environ() {
		if name, _, _ = strings.Cut(name, "="); strings.HasPrefix(name, "GIT_") {
			os.Unsetenv(name)
		}
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "author@example.com", "GIT_AUTHOR_DATE": "1700000000 +0000",
		"GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "committer@example.com", "GIT_COMMITTER_DATE": "1700000000 +0000",
	} {
		os.Setenv(name, value)
	}
	if dir := os.Getenv("ODB_TEST_CHILD"); dir != "" {
		child(dir, os.Getenv("ODB_TEST_NAME"))
		return
	}
	os.Exit(shorttest.Main(m))
}

// git runs Git in a directory and returns its output without the final newline.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gitInput(t, dir, "", args...)
}

func gitInput(t testing.TB, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// bare creates an empty bare repository.
func bare(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	gittest.Create(t, dir, "master", true)
	return dir
}

func open(t testing.TB, gitDir string) *odb.Database {
	t.Helper()
	d, err := odb.Open(gitDir+"/objects", oid.SHA1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func id(t testing.TB, s string) odb.ID {
	t.Helper()
	id, err := odb.ParseID(strings.TrimSpace(s))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func add(t testing.TB, b *odb.Batch, kind odb.Type, data []byte) odb.ID {
	t.Helper()
	id, err := b.Add(kind, data)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// commit adds a tree of the blobs and a commit of it.
func commit(t testing.TB, b *odb.Batch, parent odb.ID, blobs ...odb.ID) odb.ID {
	t.Helper()
	entries := make([]odb.TreeEntry, len(blobs))
	for i, blob := range blobs {
		entries[i] = odb.TreeEntry{Mode: odb.ModeFile, Name: fmt.Sprint(i), ID: blob}
	}
	tree, err := b.AddTree(entries)
	must(t, err)
	text := fmt.Sprintf("tree %s\n", tree)
	if !parent.IsZero() {
		text += fmt.Sprintf("parent %s\n", parent)
	}
	return add(t, b, odb.Commit, []byte(text+"author A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\nm\n"))
}

// noise returns n random bytes that depend on the seed.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(data)
	return data
}

// files lists the files in a repository's object directory, by relative path.
func files(t testing.TB, gitDir string) []string {
	t.Helper()
	var names []string
	root := filepath.Join(gitDir, "objects")
	must(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(root, path)
			names = append(names, name)
		}
		return err
	}))
	return names
}
