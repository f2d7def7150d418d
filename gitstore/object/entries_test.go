package object_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func TestEntries(t *testing.T) {
	one, two := odb.Sum(oid.SHA1, odb.Blob, []byte("1")), odb.Sum(oid.SHA1, odb.Blob, []byte("2"))
	entries := []odb.TreeEntry{
		{Mode: odb.ModeFile, Name: "a", ID: one},
		{Mode: odb.ModeTree, Name: "a.chunks", ID: two},
		{Mode: odb.ModeFile, Name: "b", ID: two},
		{Mode: odb.ModeFile, Name: "b.chunks", ID: two},
		{Mode: odb.ModeTree, Name: "dir", ID: one},
		{Mode: odb.ModeExecutable, Name: "run", ID: one},
	}
	for name, c := range map[string]struct {
		want domarkx.Blob
		ok   bool
	}{
		"a":      {domarkx.Blob{ID: one.String(), Chunks: two.String()}, true},
		"b":      {ok: false}, // its chunks are a file
		"absent": {domarkx.Blob{}, true},
		"dir":    {ok: false},
		"run":    {ok: false},
	} {
		got, err := object.File(entries, name)
		if c.ok && (err != nil || got.ID != c.want.ID || got.Chunks != c.want.Chunks) || !c.ok && !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("file %s: %v, %v", name, got, err)
		}
	}
	for name, c := range map[string]struct {
		want odb.ID
		ok   bool
	}{"dir": {one, true}, "absent": {odb.ID{}, true}, "a": {ok: false}} {
		got, err := object.Directory(entries, name)
		if got != c.want || (err == nil) != c.ok || err != nil && !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("directory %s: %s, %v", name, got, err)
		}
	}
}

func TestWithDirectory(t *testing.T) {
	one, two := odb.Sum(oid.SHA1, odb.Blob, []byte("1")), odb.Sum(oid.SHA1, odb.Blob, []byte("2"))
	file := odb.TreeEntry{Mode: odb.ModeFile, Name: "f", ID: one}
	dir := func(id odb.ID) odb.TreeEntry { return odb.TreeEntry{Mode: odb.ModeTree, Name: "d", ID: id} }
	before := []odb.TreeEntry{dir(one), file}
	for name, c := range map[string]struct {
		id   odb.ID
		want []odb.TreeEntry
	}{
		"replaced": {two, []odb.TreeEntry{file, dir(two)}},
		"removed":  {odb.ID{}, []odb.TreeEntry{file}},
	} {
		if got := object.WithDirectory(before, "d", c.id); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !slices.Equal(before, []odb.TreeEntry{dir(one), file}) {
		t.Errorf("the entries of the caller changed: %v", before)
	}
}

// TestAppendFile checks that File reads what AppendFile wrote.
func TestAppendFile(t *testing.T) {
	one, two := odb.Sum(oid.SHA1, odb.Blob, []byte("1")).String(), odb.Sum(oid.SHA1, odb.Blob, []byte("2")).String()
	for _, b := range []domarkx.Blob{{ID: one}, {ID: one, Chunks: two}} {
		entries, err := object.AppendFile(nil, "x", b)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := object.File(entries, "x"); err != nil || got.ID != b.ID || got.Chunks != b.Chunks {
			t.Errorf("%v became %v, %v", b, got, err)
		}
	}
	for _, b := range []domarkx.Blob{{}, {ID: "main"}, {ID: one, Chunks: "main"}} {
		if entries, err := object.AppendFile(nil, "x", b); err == nil {
			t.Errorf("%v became %v", b, entries)
		}
	}
}
