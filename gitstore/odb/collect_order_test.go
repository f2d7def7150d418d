package odb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A collection simulates a `git prune` or `git repack` that traverses the refs at one time and removes
// unreachable objects at a later one.
type collection struct {
	name  string
	begin func(t *testing.T, dir string) (doomed []string)
}

var collections = []collection{
	{"prune", func(t *testing.T, dir string) []string {
		// It lists loose objects only when it removes them, including later ones.
		return []string{"objects/[0-9a-f][0-9a-f]/*", "objects/pack/tmp_*", "objects/tmp_*"}
	}},
	{"repack", func(t *testing.T, dir string) (doomed []string) {
		packs, err := filepath.Glob(dir + "/objects/pack/*.pack")
		must(t, err)
		for _, pack := range packs {
			base := strings.TrimSuffix(pack, ".pack")
			if _, err := os.Lstat(base + ".keep"); err != nil {
				doomed = append(doomed, "objects/pack/"+filepath.Base(base)+".*")
			}
		}
		made := git(t, dir, "pack-objects", "-q", "--all", "--reflog", "--honor-pack-keep", "--non-empty", "--delta-base-offset", "objects/pack/pack")
		for i, pattern := range doomed {
			if made != "" && strings.Contains(pattern, made) { // it created the same pack again
				doomed[i] = "none"
			}
		}
		return doomed
	}},
}

// TestCollectionAtAnyTime kills a process at each stage of a batch while a collection starts and ends
// at any stages. Reachable objects must remain.
func TestCollectionAtAnyTime(t *testing.T) {
	template := crowded(t)
	for _, kind := range collections {
		for death := range 5 {
			if testing.Short() && death != 3 {
				continue // the others are variations
			}
			t.Run(fmt.Sprintf("%s, death at %d", kind.name, death), func(t *testing.T) {
				for begin := range 4 {
					for end := max(begin+1, 2); end <= 7; end += 1 + end/4 {
						collectDuring(t, template, kind, death, begin, end)
					}
				}
			})
		}
	}
}

func collectDuring(t *testing.T, template string, kind collection, death, begin, end int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r.git")
	must(t, os.CopyFS(dir, os.DirFS(template)))
	d, err := odb.Open(dir+"/objects", oid.SHA1)
	must(t, err)
	defer d.Close()
	b := d.Begin()
	blob := add(t, b, odb.Blob, []byte("content"))
	tip := commit(t, b, odb.ID{}, blob)
	stages := []func(){
		func() { must(t, b.Sync()) },
		func() { must(t, os.WriteFile(dir+"/refs/heads/main", []byte(tip.String()+"\n"), 0o666)) },
		func() { must(t, b.Settle()) },
		func() { must(t, d.Consolidate()) },
		func() {},
		func() { // the next command
			must(t, d.ReleaseKeeps())
			after := d.Begin()
			next := commit(t, after, odb.ID{}, add(t, after, odb.Blob, []byte("next")))
			must(t, after.Sync())
			must(t, os.WriteFile(dir+"/refs/heads/next", []byte(next.String()+"\n"), 0o666))
			must(t, after.Settle())
			must(t, d.Consolidate())
		},
		func() {},
	}
	var doomed []string
	for i := 0; i <= len(stages); i++ {
		if i == begin {
			doomed = kind.begin(t, dir)
		}
		if i == end {
			for _, pattern := range doomed {
				names, _ := filepath.Glob(filepath.Join(dir, pattern))
				for _, name := range names {
					must(t, os.Remove(name))
				}
			}
		}
		if i == death {
			odb.Die(b)
		}
		if i < len(stages) && (i < death || i >= 5) {
			stages[i]()
		}
	}
	refs, err := filepath.Glob(dir + "/refs/heads/*")
	must(t, err)
	for _, ref := range refs {
		tip, err := os.ReadFile(ref)
		must(t, err)
		if err := readWhole(dir, id(t, string(tip))); err != nil {
			t.Errorf("%s from %d to %d, death at %d: %s: %v", kind.name, begin, end, death, filepath.Base(ref), err)
		}
	}
	noKeeps(t, dir)
}

// readWhole reads a commit with its tree and blobs, as a new process does.
func readWhole(dir string, tip odb.ID) error {
	d, err := odb.Open(dir+"/objects", oid.SHA1)
	if err != nil {
		return err
	}
	defer d.Close()
	text, err := d.Commit(tip)
	if err != nil {
		return err
	}
	tree, err := odb.ParseID(string(text[len("tree "):][:40]))
	if err != nil {
		return err
	}
	entries, err := d.Tree(tree)
	for _, e := range entries {
		if _, blobErr := d.Blob(e.ID); blobErr != nil {
			err = blobErr
		}
	}
	return err
}

// crowded returns a repository with one pack less than is needed for joining.
func crowded(t *testing.T) string {
	t.Helper()
	dir := bare(t)
	d := open(t, dir)
	for i := range odb.JoinPacks - 1 {
		b := d.Begin()
		tip := commit(t, b, odb.ID{}, add(t, b, odb.Blob, fmt.Append(nil, "earlier ", i)))
		must(t, b.Sync())
		git(t, dir, "update-ref", fmt.Sprint("refs/heads/earlier", i), tip.String())
		must(t, b.Settle())
	}
	return dir
}
