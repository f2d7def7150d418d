package snapshot_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// rawCommit stores a commit of a tree that is neither a snapshot nor a version.
func (r repository) rawCommit(t tb, tree odb.ID, message string, parents ...odb.ID) odb.ID {
	t.Helper()
	return r.objects(t, func(w *object.Writer) (odb.ID, error) {
		return w.WriteCommit(&codec.Commit{Tree: tree, Parents: parents, Author: who, Committer: who, Message: []byte(message)})
	})
}

func walked(t tb, w *snapshot.FileWalk, id string) []string {
	t.Helper()
	oid, err := odb.ParseID(id)
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Commit(oid)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, f := range c.Files {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	return paths
}

// TestFileWalk checks that a walk returns each file with the commit that introduces it.
func TestFileWalk(t *testing.T) {
	r := newRepository(t)
	one := r.version(t, versionOf([]domarkx.ResourceVersion{resource("code", r.tree(t, directory{"a": "1", "sub": directory{"b": "2"}, "link": link("a")}))}))
	two := r.version(t, versionOf([]domarkx.ResourceVersion{resource("code", r.tree(t, directory{"a": "changed", "sub": directory{"b": "2", "copy of a": "1"}, "link": link("a")}))}, one.ID))
	w := snapshot.NewFileWalk(r.reader)
	if got, want := walked(t, w, one.ID), []string{"code/a", "code/link", "code/sub/b", "workspace.json"}; !slices.Equal(got, want) {
		t.Errorf("the first version introduces %q, want %q", got, want)
	}
	if got, want := walked(t, w, two.ID), []string{"code/a", "code/sub/copy of a", "workspace.json"}; !slices.Equal(got, want) {
		t.Errorf("the second version introduces %q, want %q", got, want)
	}
	if got := walked(t, w, two.ID); len(got) != 0 {
		t.Errorf("visited again, it introduces %q", got)
	}
	fresh := snapshot.NewFileWalk(r.reader)
	if got, want := walked(t, fresh, two.ID), []string{"code/a", "code/sub/copy of a", "workspace.json"}; !slices.Equal(got, want) {
		t.Errorf("compared with its parent only, it introduces %q, want %q", got, want)
	}
	info := r.commit(t, commitOf(conversation(2, nil)))
	id, err := odb.ParseID(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	c, err := fresh.Commit(id)
	if err != nil || c.Workspace || c.ID != info.ID || !strings.HasPrefix(string(c.Message), "test\n") || !strings.Contains(string(c.Headers), who.Email) {
		t.Errorf("snapshot %+v, %v", c, err)
	}
	if id, err = odb.ParseID(two.ID); err != nil {
		t.Fatal(err)
	}
	if c, err = fresh.Commit(id); err != nil || !c.Workspace {
		t.Errorf("version %+v, %v", c, err)
	}
}

// TestFileWalkKinds checks links and large content in a walk, and that it skips submodules.
func TestFileWalkKinds(t *testing.T) {
	r := newRepository(t)
	var large domarkx.Blob
	submodule := r.objects(t, func(w *object.Writer) (odb.ID, error) {
		var err error
		large, err = w.StoreChunks(strings.NewReader(strings.Repeat("large ", 1000)))
		if err != nil {
			return odb.ID{}, err
		}
		entries, err := object.AppendFile([]odb.TreeEntry{{Mode: odb.ModeSubmodule, Name: "module", ID: odb.Sum(oid.SHA1, odb.Blob, []byte("elsewhere"))}}, "large.md", large)
		if err != nil {
			return odb.ID{}, err
		}
		target, err := w.Write(odb.Blob, []byte("target"))
		if err != nil {
			return odb.ID{}, err
		}
		return w.WriteTree(append(entries, odb.TreeEntry{Mode: odb.ModeSymlink, Name: "link", ID: target}))
	})
	c, err := snapshot.NewFileWalk(r.reader).Commit(r.rawCommit(t, submodule, "a plain commit\n"))
	if err != nil || len(c.Files) != 2 {
		t.Fatalf("files %+v, %v", c.Files, err)
	}
	if f := c.Files[0]; f.Path != "large.md" || f.Blob.ID != large.ID || f.Blob.Chunks != large.Chunks || f.Link {
		t.Errorf("large file %+v", f)
	}
	if f := c.Files[1]; f.Path != "link" || !f.Link {
		t.Errorf("link %+v", f)
	}
}

// TestFileWalkHostile checks that a walk ends in directories that are nested without end, and reads what a
// shallow clone has.
func TestFileWalkHostile(t *testing.T) {
	r := newRepository(t)
	deep := r.objects(t, func(w *object.Writer) (odb.ID, error) {
		id, err := w.Write(odb.Blob, []byte("deep"))
		e := odb.TreeEntry{Mode: odb.ModeFile, Name: "d", ID: id}
		for range 1200 {
			if err != nil {
				return id, err
			}
			id, err = w.WriteTree([]odb.TreeEntry{e})
			e = odb.TreeEntry{Mode: odb.ModeTree, Name: "d", ID: id}
		}
		return id, err
	})
	if _, err := snapshot.NewFileWalk(r.reader).Commit(r.rawCommit(t, deep, "deep\n")); !errors.Is(err, domarkx.ErrCorrupt) || len(err.Error()) > 500 {
		t.Errorf("1,200 directories: %v", err)
	}
	missing := odb.Sum(oid.SHA1, odb.Commit, []byte("a commit that the clone lacks"))
	child := r.rawCommit(t, r.tree(t, directory{"a": "1"}), "shallow\n", missing)
	if got := walked(t, snapshot.NewFileWalk(r.reader), child.String()); !slices.Equal(got, []string{"a"}) {
		t.Errorf("without its parent, a commit introduces %q", got)
	}
	if _, err := snapshot.NewFileWalk(r.reader).Commit(missing); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a missing commit: %v", err)
	}
}

func TestHasFile(t *testing.T) {
	r := newRepository(t)
	commit := r.rawCommit(t, r.tree(t, directory{"a": "1", "dir": directory{"b": "2"}}), "files\n").String()
	one, two := odb.Sum(oid.SHA1, odb.Blob, []byte("1")).String(), odb.Sum(oid.SHA1, odb.Blob, []byte("2")).String()
	for _, c := range []struct {
		path, blob string
		want       bool
	}{
		{"a", one, true}, {"a", two, false}, {"dir/b", two, true}, {"dir/b", one, false},
		{"b", two, false}, {"dir", one, false}, {"a/b", two, false}, {"dir/b/c", two, false}, {"", one, false}, {"/a", one, false}, {"../a", one, false},
	} {
		if got, err := r.reader.HasFile(ctx, commit, c.path, c.blob); err != nil || got != c.want {
			t.Errorf("%q with %s: %v, %v", c.path, c.blob, got, err)
		}
	}
	for _, id := range []string{"", "main", one, strings.Repeat("1", 40)} {
		if got, err := r.reader.HasFile(ctx, id, "a", one); err == nil {
			t.Errorf("commit %q has a file: %v", id, got)
		}
	}
}

// TestShallow checks that the history ends without an error where a shallow clone does, and only there.
func TestShallow(t *testing.T) {
	r := newRepository(t)
	missing := odb.Sum(oid.SHA1, odb.Commit, []byte("a commit that the clone lacks"))
	first := r.commit(t, commitOf(conversation(1, nil)))
	id, err := odb.ParseID(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	data, err := r.db.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	c, err := codec.DecodeCommit(oid.SHA1, data)
	if err != nil {
		t.Fatal(err)
	}
	cut := r.rawCommit(t, c.Tree, strings.Replace(string(c.Message), "Domarkx-Number: 1", "Domarkx-Number: 8", 1), missing).String()
	history := func() (ids []string, err error) {
		for info, e := range r.reader.History(ctx, cut) {
			if e != nil {
				return ids, e
			}
			ids = append(ids, info.ID)
		}
		return ids, nil
	}
	if ids, err := history(); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("without a parent that should be there: %v, %v", ids, err)
	}
	if err := os.WriteFile(r.gitDir+"/shallow", []byte(cut+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if ids, err := history(); err != nil || !slices.Equal(ids, []string{cut}) {
		t.Errorf("at the end of a shallow clone: %v, %v", ids, err)
	}
}
