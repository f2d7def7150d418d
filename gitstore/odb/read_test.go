package odb_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// history creates commits on branch main with similar files, so that Git packs them as chains of
// deltas.
func history(t testing.TB, dir string, commits int) {
	t.Helper()
	var in bytes.Buffer
	text := []string{}
	for i := range 400 {
		text = append(text, fmt.Sprintf("line %d of a text that is long enough to be worth a delta\n", i))
	}
	for i := range commits {
		text[i%len(text)] = fmt.Sprintf("changed by commit %d\n", i)
		all := strings.Join(text, "")
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter C <c@d> %d +0000\ndata 2\nm\nM 100644 inline dir/f\ndata %d\n%s\nM 100755 inline x%d\ndata 3\nab\n\n", 1700000000+i, len(all), all, i%7)
	}
	gitInput(t, dir, in.String(), "fast-import", "--quiet")
}

// everything returns all objects as `git cat-file` prints them.
func everything(t testing.TB, dir string) map[odb.ID]stored {
	t.Helper()
	cmd := exec.Command("git", "cat-file", "--batch-all-objects", "--batch", "--buffer")
	cmd.Dir = dir
	out, err := cmd.Output()
	must(t, err)
	all := map[odb.ID]stored{}
	for r := bufio.NewReader(bytes.NewReader(out)); ; {
		line, err := r.ReadString('\n')
		if err == io.EOF {
			return all
		}
		var name, kind string
		var size int
		if _, err := fmt.Sscan(line, &name, &kind, &size); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(r, data); err != nil {
			t.Fatal(err)
		}
		all[id(t, name)] = stored{kind, data[:size]}
	}
}

type stored struct {
	kind string
	data []byte
}

func TestReadWhatGitWrote(t *testing.T) {
	layouts := map[string][][]string{
		"as imported":     nil,
		"loose":           {{"unpack"}},
		"offset deltas":   {{"repack", "-adfq", "--depth=200", "--window=20"}},
		"id deltas":       {{"config", "repack.useDeltaBaseOffset", "false"}, {"repack", "-adfq"}},
		"index version 1": {{"config", "pack.indexVersion", "1"}, {"repack", "-adfq"}},
		"many packs":      {{"config", "pack.packSizeLimit", "1m"}, {"repack", "-adfq", "--depth=0"}},
		"multi-pack":      {{"repack", "-adfq"}, {"multi-pack-index", "write"}},
	}
	for layout, commands := range layouts {
		t.Run(layout, func(t *testing.T) {
			dir := bare(t)
			commits := gittest.Rounds(60, 300)
			history(t, dir, commits)
			for _, args := range commands {
				if args[0] == "unpack" {
					unpack(t, dir)
					continue
				}
				git(t, dir, args...)
			}
			want := everything(t, dir)
			if len(want) < 3*commits {
				t.Fatalf("only %d objects", len(want))
			}
			d := open(t, dir)
			checker := filesystem.NewStorage(osfs.New(dir), cache.NewObjectLRUDefault())
			for name, o := range want {
				kind, data, err := d.Read(name)
				if err != nil || kind.String() != o.kind || !bytes.Equal(data, o.data) {
					t.Fatalf("%s: %s of %d bytes, %v; git has %s of %d", name, kind, len(data), err, o.kind, len(o.data))
				}
				if kind, size, err := d.Size(name); err != nil || kind.String() != o.kind || size != int64(len(o.data)) {
					t.Fatalf("%s: %s of %d bytes, %v; git has %s of %d", name, kind, size, err, o.kind, len(o.data))
				}
				if !d.Has(name) {
					t.Fatalf("%s is not there", name)
				}
				if kind == odb.Tree {
					entries, err := d.Tree(name)
					must(t, err)
					if again, err := odb.EncodeTree(oid.SHA1, entries); err != nil || !bytes.Equal(again, data) {
						t.Fatalf("tree %s encoded again: %q, %v", name, again, err)
					}
				}
				if layout == "index version 1" {
					continue // go-git cannot read it
				}
				other, err := checker.EncodedObject(plumbing.AnyObject, plumbing.Hash(name.Bytes()))
				if err != nil || other.Type().String() != o.kind || other.Size() != int64(len(o.data)) {
					t.Fatalf("%s: go-git: %v", name, err)
				}
			}
			missing := id(t, strings.Repeat("12", 20))
			if _, _, err := d.Read(missing); !errors.Is(err, domarkx.ErrNotFound) || d.Has(missing) {
				t.Errorf("missing object: %v", err)
			}
		})
	}
}

// unpack converts all packed objects to loose ones.
func unpack(t testing.TB, dir string) {
	t.Helper()
	packs, err := filepath.Glob(dir + "/objects/pack/*.pack")
	must(t, err)
	for _, name := range packs {
		pack, err := os.ReadFile(name)
		must(t, err)
		elsewhere := bare(t) // Git does not unpack objects that exist
		gitInput(t, elsewhere, string(pack), "unpack-objects", "-q")
		loose, err := filepath.Glob(elsewhere + "/objects/??/*")
		must(t, err)
		for _, from := range loose {
			fanOut := filepath.Join(dir, "objects", filepath.Base(filepath.Dir(from)))
			must(t, os.MkdirAll(fanOut, 0o755))
			must(t, os.Rename(from, filepath.Join(fanOut, filepath.Base(from))))
		}
		must(t, os.Remove(strings.TrimSuffix(name, ".pack")+".idx"))
		must(t, os.Remove(name))
	}
}

func TestOpenShapes(t *testing.T) {
	origin := filepath.Join(t.TempDir(), "origin")
	git(t, ".", "init", "-q", origin)
	blob := id(t, gitInput(t, origin, "hello", "hash-object", "-w", "--stdin"))
	git(t, origin, "commit", "-q", "--allow-empty", "-m", "m")
	tip := id(t, git(t, origin, "rev-parse", "HEAD"))
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }

	git(t, ".", "clone", "-q", "--shared", origin, at("shared"))
	git(t, ".", "clone", "-q", "--shared", "--bare", at("shared"), at("second"))
	git(t, ".", "init", "-q", at("relative"))
	rel, err := filepath.Rel(at("relative/.git/objects"), filepath.Join(origin, ".git/objects"))
	must(t, err)
	must(t, os.WriteFile(at("relative/.git/objects/info/alternates"), []byte("# comment\n\""+rel+"\"\n/nowhere\n"), 0o644))
	git(t, ".", "init", "-q", at("cycle"))
	must(t, os.WriteFile(at("cycle/.git/objects/info/alternates"), []byte("../../.git/objects\n"+filepath.Join(origin, ".git/objects")+"\n"), 0o644))

	for name, dir := range map[string]string{
		"plain":            filepath.Join(origin, ".git"),
		"shared":           at("shared/.git"),
		"shared of shared": at("second"),
		"relative":         at("relative/.git"),
		"names itself":     at("cycle/.git"),
	} {
		d, err := odb.Open(dir+"/objects", oid.SHA1)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if data, err := d.Blob(blob); err != nil || string(data) != "hello" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if _, err := d.Commit(tip); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		must(t, d.Close())
	}

	t.Run("environment", func(t *testing.T) {
		t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", "/nowhere:\""+origin+"/.git/objects\"")
		must(t, os.Remove(at("relative/.git/objects/info/alternates")))
		d := open(t, at("relative/.git"))
		if data, err := d.Blob(blob); err != nil || string(data) != "hello" {
			t.Errorf("%q, %v", data, err)
		}
		b := d.Begin()
		mine := add(t, b, odb.Blob, []byte("new"))
		must(t, b.Sync())
		must(t, b.Settle())
		if got := git(t, at("relative"), "cat-file", "blob", mine.String()); got != "new" {
			t.Errorf("git reads %q", got)
		}
	})

	if _, err := odb.Open(base+"/objects", oid.SHA1); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no repository: %v", err)
	}
}

func TestPartialCloneSaysHowToFetch(t *testing.T) {
	origin := bare(t)
	history(t, origin, 3)
	git(t, origin, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(t.TempDir(), "clone.git")
	git(t, ".", "clone", "-q", "--bare", "--filter=blob:none", "file://"+origin, clone)
	blob := id(t, git(t, origin, "rev-parse", "main:dir/f"))
	d := open(t, clone)
	if _, err := d.Blob(blob); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "git cat-file") {
		t.Errorf("promised object: %v", err)
	}
}

// TestConcurrentReadersAndRepack reads all objects while Git repacks and collects without pause.
func TestConcurrentReadersAndRepack(t *testing.T) {
	dir := bare(t)
	history(t, dir, 60)
	want := everything(t, dir)
	d := open(t, dir)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				for name, o := range want {
					kind, data, err := d.Read(name)
					if err != nil || kind.String() != o.kind || !bytes.Equal(data, o.data) {
						t.Errorf("%s: %s, %v", name, kind, err)
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
	}
	for i := range gittest.Rounds(3, 30) {
		switch i % 3 {
		case 0:
			git(t, dir, "repack", "-adfq", fmt.Sprint("--depth=", i))
		case 1:
			unpack(t, dir)
		case 2:
			git(t, dir, "gc", "-q", "--prune=now")
		}
	}
	close(done)
	readers.Wait()
}
