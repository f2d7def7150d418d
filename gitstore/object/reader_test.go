package object_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

var unknown = odb.Sum(oid.SHA1, odb.Blob, []byte("an object that nobody stored"))

// TestReadTypes checks that the same objects are read within the update that writes them and after it, and
// that those of another type are refused.
func TestReadTypes(t *testing.T) {
	w, store := newWriter(t)
	blob := must[odb.ID](t)(w.Write(odb.Blob, []byte("content")))
	tree := must[odb.ID](t)(w.WriteTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: "a", ID: blob}}))
	commit := must[odb.ID](t)(w.WriteCommit(&codec.Commit{Tree: tree, Message: []byte("one\n")}))
	readers := map[string]object.Reader{"within the update": w.Reader, "after it": store()}
	for when, r := range readers {
		t.Run(when, func(t *testing.T) {
			if data := must[[]byte](t)(r.Blob(blob)); string(data) != "content" {
				t.Errorf("blob %q", data)
			}
			if entries := must[[]odb.TreeEntry](t)(r.Tree(tree)); len(entries) != 1 || entries[0].ID != blob {
				t.Errorf("tree %v", entries)
			}
			if c := must[*codec.Commit](t)(r.Commit(commit)); c.Tree != tree || string(c.Message) != "one\n" {
				t.Errorf("commit %+v", c)
			}
			_, asTree := r.Tree(blob)
			_, asCommit := r.Commit(tree)
			_, asBlob := r.Blob(commit)
			for _, err := range []error{asTree, asCommit, asBlob} {
				if !errors.Is(err, domarkx.ErrCorrupt) {
					t.Errorf("an object of another type: %v", err)
				}
			}
			if _, err := r.Blob(unknown); !errors.Is(err, domarkx.ErrNotFound) {
				t.Errorf("a missing object: %v", err)
			}
			if _, err := r.Size(unknown); !errors.Is(err, domarkx.ErrNotFound) {
				t.Errorf("the size of a missing object: %v", err)
			}
			if size := must[int64](t)(r.Size(blob)); size != int64(len("content")) {
				t.Errorf("size %d", size)
			}
		})
	}
}

func TestDamagedObjects(t *testing.T) {
	w, _ := newWriter(t)
	tree := w.Keep(odb.Tree, []byte("100644 a\x00too short"))
	if _, err := w.Tree(tree); !errors.Is(err, domarkx.ErrCorrupt) || !strings.Contains(err.Error(), tree.String()) {
		t.Errorf("a tree that ends early: %v", err)
	}
	commit := w.Keep(odb.Commit, []byte("tree of nothing\n"))
	if _, err := w.Commit(commit); err == nil || !strings.Contains(err.Error(), commit.String()) {
		t.Errorf("a commit without a tree: %v", err)
	}
}

func TestSmallFile(t *testing.T) {
	w, _ := newWriter(t)
	full := must[odb.ID](t)(w.Write(odb.Blob, []byte("text")))
	empty := must[odb.ID](t)(w.Write(odb.Blob, nil))
	entries := []odb.TreeEntry{
		{Mode: odb.ModeFile, Name: "empty", ID: empty}, {Mode: odb.ModeFile, Name: "full", ID: full},
		{Mode: odb.ModeFile, Name: "lost", ID: unknown}, {Mode: odb.ModeSymlink, Name: "link", ID: full},
	}
	for name, want := range map[string][]byte{"full": []byte("text"), "empty": {}, "absent": nil} {
		got, err := w.SmallFile(entries, name)
		if err != nil || !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := w.SmallFile(entries, "lost"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a file without its blob: %v", err)
	}
	if _, err := w.SmallFile(entries, "link"); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("a link: %v", err)
	}
}

// TestOpen checks that content is the same however it is stored: not at all yet, in a blob, or in chunks.
func TestOpen(t *testing.T) {
	w, store := newWriter(t)
	text := domarkx.Blob{Data: []byte("in a blob")}
	if err := w.StoreBlob(context.Background(), &text); err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte("many lines\n"), chunked.Threshold/11+1)
	inChunks := domarkx.Blob{Data: large}
	if err := w.StoreBlob(context.Background(), &inChunks); err != nil {
		t.Fatal(err)
	}
	if inChunks.Chunks == "" {
		t.Fatalf("%d bytes are stored in one blob", len(large))
	}
	r := store()
	for name, c := range map[string]struct {
		blob domarkx.Blob
		want []byte
	}{
		"not stored": {domarkx.Blob{Data: []byte("here")}, []byte("here")},
		"nothing":    {domarkx.Blob{}, nil},
		"a blob":     {domarkx.Blob{ID: text.ID}, []byte("in a blob")},
		"chunks":     {domarkx.Blob{ID: inChunks.ID, Chunks: inChunks.Chunks}, large},
	} {
		t.Run(name, func(t *testing.T) {
			content, size, err := r.Open(c.blob)
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			got, err := io.ReadAll(content)
			if err != nil || !bytes.Equal(got, c.want) || size != int64(len(c.want)) {
				t.Errorf("%d bytes of %d, want %d: %v", len(got), size, len(c.want), err)
			}
		})
	}
	for name, b := range map[string]domarkx.Blob{
		"no id":             {ID: "master"},
		"no id of chunks":   {ID: inChunks.ID, Chunks: "master"},
		"a missing blob":    {ID: unknown.String()},
		"a missing pointer": {ID: unknown.String(), Chunks: inChunks.Chunks},
		"a tree":            {ID: inChunks.Chunks},
	} {
		if content, _, err := r.Open(b); err == nil {
			content.Close()
			t.Errorf("%s was opened", name)
		}
	}
}
