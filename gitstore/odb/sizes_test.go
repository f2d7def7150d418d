package odb_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// manyBlobs stores blobs in one pack and returns their ids; the i-th has i+10 bytes.
func manyBlobs(t *testing.T, dir string, n int) []odb.ID {
	d := open(t, dir)
	b := d.Begin()
	ids := make([]odb.ID, n)
	for i := range ids {
		ids[i] = add(t, b, odb.Blob, fmt.Appendf(bytes.Repeat([]byte{'x'}, i), "%010d", i))
	}
	tip := commit(t, b, odb.ID{}, ids...)
	must(t, b.Sync())
	git(t, dir, "update-ref", "refs/heads/main", tip.String())
	must(t, b.Settle())
	return ids
}

func checkSizes(t *testing.T, dir string, ids []odb.ID) {
	t.Helper()
	d, err := odb.Open(dir, "", oid.SHA1)
	must(t, err)
	for range 2 {
		for i, id := range ids {
			if kind, size, err := d.Size(id); kind != odb.Blob || size != int64(i+10) || err != nil {
				t.Fatalf("blob %d: %s of %d bytes, %v", i, kind, size, err)
			}
		}
	}
	must(t, d.Close())
}

func TestSizesAreRemembered(t *testing.T) {
	dir := bare(t)
	ids := manyBlobs(t, dir, 1500)
	checkSizes(t, dir, ids[:500])
	kept := func() []string {
		files, err := filepath.Glob(dir + "/domarkx/sizes/*")
		must(t, err)
		return files
	}
	if files := kept(); len(files) != 0 {
		t.Errorf("few sizes are kept in %q", files)
	}
	checkSizes(t, dir, ids)
	files := kept()
	if len(files) != 1 {
		t.Fatalf("sizes are kept in %q", files)
	}
	data, err := os.ReadFile(files[0])
	must(t, err)
	checkSizes(t, dir, ids)

	// Only intact files are used.
	sealed := func(data []byte) []byte {
		end := len(data) - 4
		binary.BigEndian.PutUint32(data[end:], crc32.Checksum(data[:end], crc32.MakeTable(crc32.Castagnoli)))
		return data
	}
	changed := func(change func([]byte) []byte) []byte { return change(bytes.Clone(data)) }
	for name, bad := range map[string][]byte{
		"empty":           {},
		"cut short":       data[:len(data)-8],
		"longer":          append(bytes.Clone(data), 0, 0, 0, 0),
		"a bit":           changed(func(b []byte) []byte { b[500] ^= 4; return b }),
		"another pack":    changed(func(b []byte) []byte { b[10]++; return sealed(b) }),
		"another number":  changed(func(b []byte) []byte { b[31]++; return sealed(b) }),
		"another version": changed(func(b []byte) []byte { b[7]++; return sealed(b) }),
		"unknown types":   changed(func(b []byte) []byte { b[100] |= 0xe0; return sealed(b) }),
		"nothing known":   changed(func(b []byte) []byte { clear(b[32:]); return sealed(b) }),
	} {
		must(t, os.WriteFile(files[0], bad, 0o600))
		t.Log(name)
		checkSizes(t, dir, ids)
	}
	must(t, os.WriteFile(files[0], changed(func(b []byte) []byte {
		for i := 35; i < len(b)-4; i += 4 {
			b[i] = 1
		}
		return sealed(b)
	}), 0o600))
	d := open(t, dir)
	wrong := 0
	for i, id := range ids {
		if _, size, err := d.Size(id); err != nil || size != int64(i+10) {
			wrong++
		}
		if got, err := d.Blob(id); err != nil || len(got) != i+10 {
			t.Fatalf("blob %d: %d bytes, %v", i, len(got), err)
		}
	}
	if wrong < 1000 {
		t.Errorf("%d sizes are those of the file", wrong)
	}
}

func TestSizesGoWithTheirPack(t *testing.T) {
	dir := bare(t)
	ids := manyBlobs(t, dir, 1500)
	checkSizes(t, dir, ids)
	stray := dir + "/domarkx/sizes/pack-x.1.tmp"
	must(t, os.WriteFile(stray, nil, 0o600))
	d := open(t, dir)
	must(t, d.RemoveSizes(time.Now().Add(-time.Hour)))
	names := func() string {
		files, err := filepath.Glob(dir + "/domarkx/sizes/*")
		must(t, err)
		return strings.Join(files, "\n")
	}
	if got := names(); !strings.Contains(got, stray) || strings.Count(got, "\n") != 1 {
		t.Errorf("kept:\n%s", got)
	}
	git(t, dir, "repack", "-adfq")
	must(t, d.RemoveSizes(time.Now().Add(time.Hour)))
	if got := names(); got != "" {
		t.Errorf("kept after a repack:\n%s", got)
	}
	checkSizes(t, dir, ids) // also of deltas
	if got := names(); got == "" {
		t.Error("nothing is kept of the new pack")
	}
	checkSizes(t, dir, ids)
}

// TestTreesOfAPackAreTogether checks that the trees of a pack are adjacent, so that listing the
// directories of a version reads one part of the pack.
func TestTreesOfAPackAreTogether(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	b := d.Begin()
	var directories []odb.TreeEntry
	for i := range 300 {
		blob := add(t, b, odb.Blob, fmt.Appendf(nil, "%05000d", i))
		directory, err := b.AddTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: "f", ID: blob}})
		must(t, err)
		directories = append(directories, odb.TreeEntry{Mode: odb.ModeTree, Name: fmt.Sprintf("d%03d", i), ID: directory})
	}
	tree, err := b.AddTree(directories)
	must(t, err)
	tip := add(t, b, odb.Commit, []byte("tree "+tree.String()+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n"))
	must(t, b.Sync())
	git(t, dir, "update-ref", "refs/heads/main", tip.String())
	must(t, b.Settle())
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	must(t, err)
	order := map[int]string{}
	most := 0
	for line := range strings.Lines(git(t, dir, "verify-pack", "-v", packs[0])) {
		var id, kind string
		var size, packed, at int
		if n, _ := fmt.Sscan(line, &id, &kind, &size, &packed, &at); n == 5 {
			order[at], most = kind, max(most, at)
		}
	}
	runs, last := 0, ""
	for at := range most + 1 {
		if kind := order[at]; kind != "" {
			if kind == "tree" && last != "tree" {
				runs++
			}
			last = kind
		}
	}
	if runs != 1 {
		t.Errorf("trees are in %d places", runs)
	}
}
