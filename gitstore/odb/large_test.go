package odb_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(data)
	return data
}

func TestLargeRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 16 << 10, 16<<10 + 1, 256 << 10, 300_000, 20 << 20} {
		dir := bare(t)
		d := open(t, dir)
		data := noise(uint64(n), n)
		b := d.Begin()
		pointer, chunks, size, err := b.AddLarge(bytes.NewReader(data))
		must(t, err)
		if size != int64(n) {
			t.Errorf("size %d, want %d", size, n)
		}
		tree, err := b.AddTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: "f", ID: pointer}, {Mode: odb.ModeTree, Name: "f.chunks", ID: chunks}})
		must(t, err)
		tip := add(t, b, odb.Commit, []byte("tree "+tree.String()+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n"))
		must(t, b.Sync())
		git(t, dir, "update-ref", "refs/heads/main", tip.String())
		must(t, b.Settle())
		if out := git(t, dir, "fsck", "--strict", "--full", "--unreachable"); out != "" {
			t.Errorf("%d bytes: fsck: %s", n, out)
		}
		text, err := d.Blob(pointer)
		must(t, err)
		if !odb.IsPointer(text) {
			t.Errorf("pointer %q", text)
		}
		l, size, err := d.OpenLarge(pointer, chunks)
		must(t, err)
		got, err := io.ReadAll(l)
		if err != nil || size != int64(n) || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: read %d of %d, %v", n, len(got), size, err)
		}
		for range 100 {
			from := rand.IntN(n + 1)
			p := make([]byte, rand.IntN(n-from+1))
			if m, err := l.ReadAt(p, int64(from)); m != len(p) || err != nil || !bytes.Equal(p, data[from:from+len(p)]) {
				t.Fatalf("%d bytes at %d: %d, %v", len(p), from, m, err)
			}
		}
		if m, err := l.ReadAt(make([]byte, 10), int64(n)); m != 0 || err != io.EOF {
			t.Errorf("at the end: %d, %v", m, err)
		}
		must(t, l.Close())
	}
}

// A change in large content must cost some chunks and nodes, not a copy.
func TestLargeChangeIsSmall(t *testing.T) {
	d := open(t, bare(t))
	data := noise(1, 64<<20)
	first := d.Begin()
	_, _, _, err := first.AddLarge(bytes.NewReader(data))
	must(t, err)
	objects, total := first.Stats()
	if mean := total / int64(objects); mean < 56<<10 || mean > 72<<10 {
		t.Errorf("%d objects, %d bytes each; want about 64 KiB", objects, mean)
	}
	for _, changed := range [][]byte{
		append([]byte("inserted"), data...),
		append(append(bytes.Clone(data[:30<<20]), "inserted"...), data[30<<20:]...),
		append(bytes.Clone(data[:30<<20]), data[30<<20+1:]...),
		append(bytes.Clone(data), "appended"...),
	} {
		// One batch for both shares what is equal.
		b := d.Begin()
		_, _, _, err := b.AddLarge(bytes.NewReader(data))
		must(t, err)
		n0, bytes0 := b.Stats()
		_, _, _, err = b.AddLarge(bytes.NewReader(changed))
		must(t, err)
		n, bytes1 := b.Stats()
		if n-n0 > 12 || bytes1-bytes0 > 1<<20 {
			t.Errorf("a change costs %d objects, %d bytes", n-n0, bytes1-bytes0)
		}
		b.Abort()
	}
	first.Abort()
}

func TestOpenLargeRefuses(t *testing.T) {
	d := open(t, bare(t))
	b := d.Begin()
	pointer, chunks, _, err := b.AddLarge(bytes.NewReader(noise(7, 1<<20)))
	must(t, err)
	empty, err := b.AddTree(nil)
	must(t, err)
	text := odb.Pointer{Size: 1 << 20, Chunks: chunks}.Encode() // zero SHA-256
	wrongSum := add(t, b, odb.Blob, text)
	wrongSize := add(t, b, odb.Blob, odb.Pointer{Size: 1<<20 + 1, Chunks: chunks}.Encode())
	must(t, b.Sync())
	must(t, b.Settle())
	for name, ids := range map[string][2]odb.ID{
		"other tree": {pointer, empty}, "no pointer": {empty, chunks}, "other size": {wrongSize, chunks},
	} {
		if _, _, err := d.OpenLarge(ids[0], ids[1]); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, _, err := d.OpenLarge(wrongSum, chunks)
	must(t, err)
	if _, err := io.Copy(io.Discard, l); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("other SHA-256: %v", err)
	}
}
