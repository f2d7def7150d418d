package odb_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

func TestBatchIsReadByGit(t *testing.T) {
	tests := []struct {
		name  string
		blobs int
		size  int
	}{
		{"few", 5, 100},
		{"many", 300, 100},
		{"much", 3, 1_600_000},
		{"several groups", 2000, 1000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := bare(t)
			d := open(t, dir)
			b := d.Begin()
			contents := map[odb.ID][]byte{}
			var ids []odb.ID
			for i := range test.blobs {
				data := bytes.Repeat(fmt.Appendf(nil, "%d ", i), test.size/4)
				blob := add(t, b, odb.Blob, data)
				if again := add(t, b, odb.Blob, data); again != blob {
					t.Fatalf("second id %s, want %s", again, blob)
				}
				contents[blob] = data
				ids = append(ids, blob)
			}
			tip := commit(t, b, odb.ID{}, ids...)
			if n, _ := b.Stats(); n != test.blobs+2 {
				t.Errorf("%d objects, want %d", n, test.blobs+2)
			}
			must(t, b.Sync())
			keeps, _ := filepath.Glob(dir + "/objects/pack/*.keep")
			if len(keeps) != 1 {
				t.Errorf("kept packs before the ref: %q, want one", keeps)
			}
			for _, keep := range keeps {
				if text, err := os.ReadFile(keep); err != nil || string(text) != "git-domarkx\n" {
					t.Errorf("keep file: %q, %v", text, err)
				}
			}
			git(t, dir, "update-ref", "refs/heads/main", tip.String())
			must(t, b.Settle())
			b.Abort()

			git(t, dir, "fsck", "--strict", "--full")
			packs := 0
			for _, name := range files(t, dir) {
				switch filepath.Ext(name) {
				case ".pack":
					packs++
					git(t, dir, "verify-pack", filepath.Join("objects", name))
					git(t, dir, "index-pack", "--verify", filepath.Join("objects", name))
				case ".idx":
				case ".keep":
					t.Errorf("%s is left", name)
				}
				if strings.Contains(name, "tmp_") {
					t.Errorf("%s is left", name)
				}
				if info, err := os.Stat(filepath.Join(dir, "objects", name)); err != nil || info.Mode() != 0o444 {
					t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
				}
			}
			if packs != 1 {
				t.Errorf("%d packs, want one", packs)
			}
			for blob, data := range contents {
				kind, got, err := d.Read(blob)
				if err != nil || kind != odb.Blob || !bytes.Equal(got, data) {
					t.Fatalf("read %s: %v, %d bytes, %v", blob, kind, len(got), err)
				}
				if kind, size, err := d.Size(blob); err != nil || kind != odb.Blob || size != int64(len(data)) {
					t.Fatalf("size of %s: %v, %d, %v", blob, kind, size, err)
				}
			}
			if want := git(t, dir, "rev-parse", "main:0"); want != ids[0].String() {
				t.Errorf("git has %s, want %s", want, ids[0])
			}
		})
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, blobs := range []int{3, 1000} {
		dir := bare(t)
		d := open(t, dir)
		before := files(t, dir)
		b := d.Begin()
		for i := range blobs {
			add(t, b, odb.Blob, fmt.Appendf(nil, "blob %d", i))
		}
		b.Abort()
		if after := files(t, dir); len(after) != len(before) {
			t.Errorf("%d blobs: left %q", blobs, after)
		}
		if _, err := b.Add(odb.Blob, nil); err == nil {
			t.Error("an ended batch takes objects")
		}
		if b.Sync() == nil {
			t.Error("an ended batch can be synced")
		}
	}
}

func TestSyncStoresBesideDamagedObject(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	blob := id(t, gitInput(t, dir, "content", "hash-object", "-w", "--stdin"))
	name := filepath.Join(dir, "objects", blob.String()[:2], blob.String()[2:])
	must(t, os.Chmod(name, 0o644))
	must(t, os.WriteFile(name, []byte("damage"), 0o644))
	if _, err := d.Blob(blob); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Fatalf("damaged object: %v", err)
	}
	b := d.Begin()
	add(t, b, odb.Blob, []byte("content"))
	must(t, b.Sync())
	if data, err := d.Blob(blob); err != nil || string(data) != "content" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, b.Settle())
}
