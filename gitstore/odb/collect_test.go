package odb_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// write stores a commit with that many new blobs, moves a ref to it and settles the batch.
func write(d *odb.Database, dir, ref string, blobs int, salt string) (odb.ID, error) {
	b := d.Begin()
	defer b.Abort()
	var entries []odb.TreeEntry
	for i := range blobs {
		blob, err := b.Add(odb.Blob, fmt.Appendf(nil, "%s %d", salt, i))
		if err != nil {
			return odb.ID{}, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: fmt.Sprint(i), ID: blob})
	}
	tree, err := b.AddTree(entries)
	if err != nil {
		return odb.ID{}, err
	}
	tip, err := b.Add(odb.Commit, fmt.Appendf(nil, "tree %s\nauthor A <a@b> 1700000000 +0000\ncommitter A <a@b> 1700000000 +0000\n\nm\n", tree))
	if err != nil {
		return odb.ID{}, err
	}
	for try := 0; ; try++ {
		if err := b.Sync(); err != nil {
			return odb.ID{}, err
		}
		out, err := exec.Command("git", "-C", dir, "update-ref", ref, tip.String()).CombinedOutput()
		if err == nil {
			break
		}
		if try == 3 {
			return odb.ID{}, fmt.Errorf("update-ref: %w: %s", err, out)
		}
	}
	return tip, b.Settle()
}

func TestWritersMeetCollections(t *testing.T) {
	for name, loop := range map[string][][]string{
		"gc":     {{"gc", "-q", "--prune=now"}},
		"repack": {{"repack", "-adq"}},
		"both":   {{"gc", "-q", "--prune=now"}, {"repack", "-adfq"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := bare(t)
			d := open(t, dir)
			done := make(chan struct{})
			var collectors, writers sync.WaitGroup
			collectors.Go(func() {
				// A collection gives up without removing anything when it meets a writer that restores
				// an object which another collection removed. That may happen, but not ten times in a row.
				const most = 10
				failed := 0
				for {
					for _, args := range loop {
						cmd := exec.Command("git", args...)
						cmd.Dir = dir
						out, err := cmd.CombinedOutput()
						if err == nil {
							failed = 0
						} else if failed++; failed == most {
							t.Errorf("git %s, %d times: %v: %s", args, most, err, out)
							return
						}
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
			for w := range 2 {
				writers.Go(func() {
					for i := range gittest.Rounds(8, 100) {
						blobs := []int{2, 100}[i%2]
						// Each ref is replaced, so that its previous objects become unreachable.
						tip, err := write(d, dir, fmt.Sprintf("refs/heads/w%d-%d", w, i%3), blobs, fmt.Sprint(w, " ", i))
						if err != nil {
							t.Error(err)
							return
						}
						if _, err := d.Commit(tip); err != nil {
							t.Error(err)
						}
					}
				})
			}
			writers.Wait()
			close(done)
			collectors.Wait()
			// The commit graph of `git gc` may contain a replaced tip that `git repack` removed
			// afterwards.
			git(t, dir, "-c", "core.commitGraph=false", "fsck", "--strict", "--full")
			must(t, d.ReleaseKeeps())
			noKeeps(t, dir)
		})
	}
}

func noKeeps(t *testing.T, dir string) {
	t.Helper()
	if keeps, _ := filepath.Glob(dir + "/objects/pack/*.keep"); len(keeps) > 0 {
		t.Errorf("kept: %q", keeps)
	}
}

func TestReleaseKeepsLeavesOthers(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	b := d.Begin()
	for i := range 100 {
		add(t, b, odb.Blob, fmt.Append(nil, i))
	}
	must(t, b.Sync()) // held by this process
	foreign := filepath.Join(dir, "objects/pack/pack-"+strings.Repeat("0", 40)+".keep")
	must(t, os.WriteFile(foreign, []byte("mine\n"), 0o644))
	must(t, d.ReleaseKeeps())
	if keeps, _ := filepath.Glob(dir + "/objects/pack/*.keep"); len(keeps) != 2 {
		t.Errorf("kept: %q, want two", keeps)
	}
	b.Abort()
	must(t, os.Remove(foreign))
	noKeeps(t, dir)
}

// TestPackMeetsPrune checks that a prune does not remove a pack that is being written.
func TestPackMeetsPrune(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	b := d.Begin()
	var blobs []odb.ID
	for i := range 100 {
		blobs = append(blobs, add(t, b, odb.Blob, fmt.Append(nil, i)))
	}
	tip := commit(t, b, odb.ID{}, blobs...)
	git(t, dir, "prune", "--expire=now")
	must(t, b.Sync())
	git(t, dir, "update-ref", "refs/heads/main", tip.String())
	must(t, b.Settle())
	git(t, dir, "fsck", "--strict", "--full")
	noKeeps(t, dir)
}

// child is run in a process that will be killed. It writes and prints each acknowledged ref with its
// commit.
func child(dir, name string) {
	d, err := odb.Open(dir+"/objects", oid.SHA1)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for i := 0; ; i++ {
		ref := fmt.Sprintf("refs/heads/%s-%d", name, i)
		tip, err := write(d, dir, ref, []int{3, 90, 1200}[i%3], ref)
		if err != nil {
			fmt.Println("error", err)
			return
		}
		fmt.Println(ref, tip)
	}
}

func TestKilledWriters(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	acknowledged := map[string]string{}
	step := gittest.Rounds(3, 1)
	for round := 0; round < 25 || len(acknowledged) < 5; round += step {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ODB_TEST_CHILD="+dir, fmt.Sprint("ODB_TEST_NAME=k", round))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		// Later rounds live longer.
		timer := time.AfterFunc(time.Duration(round*round)*200*time.Microsecond+time.Millisecond, func() { cmd.Process.Kill() })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			ref, tip, ok := strings.Cut(lines.Text(), " ")
			if !ok || ref == "error" {
				t.Errorf("child: %s", lines.Text())
				cmd.Process.Kill()
				break
			}
			acknowledged[ref] = tip
		}
		cmd.Wait()
		timer.Stop()
	}
	// A git that a killed writer was starting has the files open until it runs.
	var keeps []string
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		must(t, d.ReleaseKeeps())
		if keeps, _ = filepath.Glob(dir + "/objects/pack/*.keep"); len(keeps) == 0 || time.Now().After(deadline) {
			break
		}
	}
	if len(keeps) > 0 {
		t.Errorf("kept: %q", keeps)
	}
	git(t, dir, "gc", "-q", "--prune=now")
	git(t, dir, "fsck", "--strict", "--full")
	for _, name := range files(t, dir) {
		if strings.Contains(name, "tmp_") {
			t.Errorf("%s is left", name)
		}
	}
	refs := git(t, dir, "for-each-ref", "--format=%(refname) %(objectname)")
	for ref, tip := range acknowledged {
		if !strings.Contains(refs, ref+" "+tip) {
			t.Errorf("%s %s is lost", ref, tip)
		}
	}
}

func TestReadOnlyRepository(t *testing.T) {
	for _, blobs := range []int{2, 100} {
		dir := bare(t)
		d := open(t, dir)
		objects := filepath.Join(dir, "objects")
		before := files(t, dir)
		asOrdinaryUser(t, func() {
			must(t, filepath.WalkDir(objects, func(path string, e os.DirEntry, err error) error {
				return errors.Join(err, os.Chmod(path, 0o555))
			}))
		}, func() {
			b := d.Begin()
			defer b.Abort()
			var err error
			for i := 0; i < blobs && err == nil; i++ {
				_, err = b.Add(odb.Blob, fmt.Append(nil, i))
			}
			if err == nil {
				err = b.Sync()
			}
			if !errors.Is(err, domarkx.ErrReadOnly) || !strings.Contains(err.Error(), objects) {
				t.Errorf("%d blobs: %v", blobs, err)
			}
		})
		if after := files(t, dir); len(after) != len(before) {
			t.Errorf("%d blobs: left %q", blobs, after)
		}
	}
}

func TestSharedRepositoryModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared.git")
	git(t, ".", "init", "-q", "--bare", "--shared=group", dir)
	must(t, os.RemoveAll(filepath.Join(dir, "objects", "pack")))
	d := open(t, dir)
	b := d.Begin()
	blob := add(t, b, odb.Blob, []byte("x"))
	must(t, b.Sync())
	must(t, b.Settle())
	want := os.FileMode(0o2775)&^0o2000 | os.ModeSetgid
	info, err := os.Stat(filepath.Join(dir, "objects", "pack"))
	must(t, err)
	if got := info.Mode() & (os.ModePerm | os.ModeSetgid); got != want {
		t.Errorf("pack directory: %v, want %v", got, want)
	}
	if !bytes.Contains([]byte(git(t, dir, "cat-file", "blob", blob.String())), []byte("x")) {
		t.Error("git does not read it")
	}
}
