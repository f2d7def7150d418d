package odb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// testContent is a repository with large content that is partly compressible, stored twice so that
// Git creates deltas.
type testContent struct {
	dir             string
	content         []byte
	pointer, chunks odb.ID
}

func newChunked(t *testing.T) testContent {
	t.Helper()
	c := testContent{dir: bare(t), content: noise(11, 300_000)}
	for i := range 30_000 {
		c.content = fmt.Appendf(c.content, "line %d, %x\n", i, uint32(i)*2654435761)
	}
	d := open(t, c.dir)
	b := d.Begin()
	entries := make([]odb.TreeEntry, 0, 4)
	for _, name := range []string{"b", "a"} {
		var err error
		c.pointer, c.chunks, _, err = chunked.Add(b, bytes.NewReader(c.content))
		must(t, err)
		entries = append([]odb.TreeEntry{{Mode: odb.ModeFile, Name: name, ID: c.pointer}, {Mode: odb.ModeTree, Name: name + ".chunks", ID: c.chunks}}, entries...)
		if name == "b" {
			for i := 50_000; i < len(c.content); i += 100_000 {
				c.content[i]++
			}
		}
	}
	tree, err := b.AddTree(entries)
	must(t, err)
	tip := add(t, b, odb.Commit, []byte("tree "+tree.String()+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n"))
	must(t, b.Sync())
	git(t, c.dir, "update-ref", "refs/heads/main", tip.String())
	must(t, b.Settle())
	return c
}

// read reads the content in one call, without verifying its SHA-256.
func (c testContent) read(t *testing.T) ([]byte, error) {
	t.Helper()
	d, err := odb.Open(c.dir+"/objects", oid.SHA1)
	must(t, err)
	defer d.Close()
	l, size, err := chunked.Open(d, c.pointer, c.chunks)
	if err != nil {
		return nil, err
	}
	got := make([]byte, size)
	_, err = l.ReadAt(got, 0)
	return got, err
}

// files returns the object files with that extension; "" means loose objects.
func (c testContent) files(t *testing.T, ending string) []string {
	t.Helper()
	var found []string
	for _, name := range files(t, c.dir) {
		if filepath.Ext(name) == ending && !strings.HasPrefix(name, "info") {
			found = append(found, filepath.Join(c.dir, "objects", name))
		}
	}
	if len(found) == 0 {
		t.Fatalf("no files end with %q", ending)
	}
	return found
}

// TestDecayOfChunksIsNoticed flips random bits of stored content. Reading must return the right
// content or an error.
func TestDecayOfChunksIsNoticed(t *testing.T) {
	for name, layout := range map[string]struct {
		commands [][]string
		ending   string
	}{
		"as written":      {nil, ".pack"},
		"by git":          {[][]string{{"repack", "-adfq", "--depth=0"}}, ".pack"},
		"deltas":          {[][]string{{"repack", "-adfq", "--window=250"}}, ".pack"},
		"index version 1": {[][]string{{"config", "pack.indexVersion", "1"}, {"repack", "-adfq", "--depth=0"}}, ".pack"},
		"loose":           {[][]string{{"unpack"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChunked(t)
			for _, args := range layout.commands {
				if args[0] == "unpack" {
					unpack(t, c.dir)
					continue
				}
				git(t, c.dir, args...)
			}
			if got, err := c.read(t); err != nil || !bytes.Equal(got, c.content) {
				t.Fatalf("before: %v", err)
			}
			r := rand.New(rand.NewPCG(1, 2))
			noticed := 0
			stored := c.files(t, layout.ending)
			flips := gittest.Rounds(40, 1000)
			for range flips {
				file := stored[r.IntN(len(stored))]
				must(t, os.Chmod(file, 0o644))
				data, err := os.ReadFile(file)
				must(t, err)
				at, bit := r.IntN(len(data)), byte(1)<<r.IntN(8)
				data[at] ^= bit
				must(t, os.WriteFile(file, data, 0o644))
				got, err := c.read(t)
				if err == nil && !bytes.Equal(got, c.content) {
					t.Errorf("bit %#x of %s at %d flipped: other content", bit, filepath.Base(file), at)
				}
				if err != nil {
					noticed++
				}
				data[at] ^= bit
				must(t, os.WriteFile(file, data, 0o644))
			}
			// The other half belongs to the first content.
			if noticed < flips/4 {
				t.Errorf("%d of %d flips were noticed", noticed, flips)
			}
		})
	}
}

// TestIndexOfOtherPlacesIsNoticed exchanges the offsets of two objects of the same size and type.
func TestIndexOfOtherPlacesIsNoticed(t *testing.T) {
	dir := bare(t)
	b := open(t, dir).Begin()
	var blobs []odb.ID
	for i := range 64 { // of one size, like chunks of content without natural ends
		blobs = append(blobs, add(t, b, odb.Blob, noise(uint64(i), 20_000)))
	}
	tree := make([]odb.TreeEntry, len(blobs))
	for i, blob := range blobs {
		tree[i] = odb.TreeEntry{Mode: odb.ModeFile, Name: fmt.Sprintf("%02x-%x", i, 20_000), ID: blob}
	}
	chunks, err := b.AddTree(tree)
	must(t, err)
	c := testContent{dir: dir, chunks: chunks}
	c.pointer = add(t, b, odb.Blob, chunked.Pointer{Size: 64 * 20_000, Chunks: chunks}.Encode())
	must(t, b.Sync())
	must(t, b.Settle())
	if _, err := c.read(t); err != nil {
		t.Fatal(err)
	}
	index := c.files(t, ".idx")[0]
	must(t, os.Chmod(index, 0o644))
	raw, err := os.ReadFile(index)
	must(t, err)
	x, err := packidx.Parse(oid.SHA1, raw)
	must(t, err)
	offsets := raw[8+4*256+24*x.Len():]
	place := map[odb.ID][]byte{}
	for i := range x.Len() {
		place[x.ID(i)] = offsets[4*i:][:4]
	}
	one, two := place[blobs[3]], place[blobs[4]]
	a, z := binary.BigEndian.Uint32(one), binary.BigEndian.Uint32(two)
	binary.BigEndian.PutUint32(one, z)
	binary.BigEndian.PutUint32(two, a)
	must(t, os.WriteFile(index, raw, 0o644))
	if _, err := c.read(t); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("two places exchanged: %v", err)
	}
}
