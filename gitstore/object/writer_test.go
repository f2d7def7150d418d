package object_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// TestVisibility checks which objects an update can read before it is stored, and which of them remain.
func TestVisibility(t *testing.T) {
	w, store := newWriter(t)
	written := must[odb.ID](t)(w.Write(odb.Blob, []byte("written")))
	unread := must[odb.ID](t)(w.WriteUnread(odb.Blob, []byte("unread")))
	kept := w.Keep(odb.Blob, []byte("kept"))
	for name, c := range map[string]struct {
		id       odb.ID
		readable bool
	}{"written": {written, true}, "unread": {unread, false}, "kept": {kept, true}} {
		data, err := w.Blob(c.id)
		switch {
		case c.readable && (err != nil || string(data) != name):
			t.Errorf("%s: %q, %v", name, data, err)
		case !c.readable && !errors.Is(err, domarkx.ErrNotFound):
			t.Errorf("%s: %q, %v", name, data, err)
		}
		if size, err := w.Size(c.id); err != nil || size != int64(len(name)) {
			t.Errorf("size of %s: %d, %v", name, size, err)
		}
	}
	r := store()
	for id, stored := range map[odb.ID]bool{written: true, unread: true, kept: false} {
		if _, err := r.Blob(id); (err == nil) != stored {
			t.Errorf("%s after the update: %v", id, err)
		}
	}
}

func TestWriteTree(t *testing.T) {
	w, store := newWriter(t)
	blob := must[odb.ID](t)(w.Write(odb.Blob, []byte("x")))
	a, b := odb.TreeEntry{Mode: odb.ModeFile, Name: "a", ID: blob}, odb.TreeEntry{Mode: odb.ModeFile, Name: "b", ID: blob}
	if id, err := w.WriteTree(nil); err != nil || !id.IsZero() {
		t.Errorf("no entries: %s, %v", id, err)
	}
	one := must[odb.ID](t)(w.WriteTree([]odb.TreeEntry{b, a}))
	two := must[odb.ID](t)(w.WriteTree([]odb.TreeEntry{a, b}))
	if one != two {
		t.Errorf("the order of entries makes another tree: %s, %s", one, two)
	}
	if id, err := w.WriteTree([]odb.TreeEntry{a, a}); err == nil {
		t.Errorf("a name twice became the tree %s", id)
	}
	onlyA := odb.Sum(oid.SHA1, odb.Tree, must[[]byte](t)(odb.EncodeTree(oid.SHA1, []odb.TreeEntry{a})))
	must[any](t)(nil, w.Know(onlyA, 0))
	if id, err := w.WriteTree([]odb.TreeEntry{a}); err != nil || id != onlyA {
		t.Errorf("a known tree: %s, %v", id, err)
	}
	r := store()
	if _, err := r.Tree(one); err != nil {
		t.Error(err)
	}
	if _, err := r.Tree(onlyA); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a known tree was stored again: %v", err)
	}
}

// TestStoreBlob checks how content is stored: in one blob, or in chunks if it is large or looks like the
// pointer that stands for chunks.
func TestStoreBlob(t *testing.T) {
	w, store := newWriter(t)
	pointer := chunked.Pointer{Size: 3, Chunks: unknown}.Encode()
	for name, c := range map[string]struct {
		content string
		chunks  bool
	}{
		"text":      {"some text", false},
		"nothing":   {"", false},
		"a pointer": {string(pointer), true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, add := range []func(context.Context, *domarkx.Blob) error{w.StoreBlob, w.StoreBase} {
				blob := domarkx.Blob{Data: []byte(c.content)}
				if err := add(context.Background(), &blob); err != nil {
					t.Fatal(err)
				}
				if (blob.Chunks != "") != c.chunks {
					t.Errorf("stored as %s with chunks %q", blob.ID, blob.Chunks)
				}
				if id := odb.Sum(oid.SHA1, odb.Blob, []byte(c.content)).String(); !c.chunks && blob.ID != id {
					t.Errorf("blob %s, want %s", blob.ID, id)
				}
			}
		})
	}
	ready := domarkx.Blob{ID: unknown.String(), Data: []byte("not this")}
	if err := w.StoreBlob(context.Background(), &ready); err != nil || ready.ID != unknown.String() {
		t.Errorf("a blob that has an id: %s, %v", ready.ID, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	late := domarkx.Blob{Data: []byte("too late")}
	if err := w.StoreBlob(ended, &late); !errors.Is(err, context.Canceled) || late.ID != "" {
		t.Errorf("after the end: %q, %v", late.ID, err)
	}
	r := store()
	if _, err := r.Blob(odb.Sum(oid.SHA1, odb.Blob, []byte("some text"))); err != nil {
		t.Error(err)
	}
}

// TestStoreChunksFails checks that content that cannot be read to its end has no ids.
func TestStoreChunksFails(t *testing.T) {
	w, _ := newWriter(t)
	broken := errors.New("the disk is gone")
	blob, err := w.StoreChunks(io.MultiReader(strings.NewReader("the beginning"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("stored as %v: %v", blob, err)
	}
}
