package odb_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// turns writes that many small batches and returns the contents of all objects. Some objects are in
// several batches, and some are deltas.
func turns(t *testing.T, d *odb.Database, dir string, n int) map[odb.ID][]byte {
	t.Helper()
	contents := map[odb.ID][]byte{}
	var parent odb.ID
	for i := range n {
		b := d.Begin()
		document := bytes.Repeat(fmt.Appendf(nil, "line %d of a document\n", i%3), 40)
		part := append(bytes.Clone(document[:600]), fmt.Sprint("part ", i)...)
		base, err := b.AddBase(document)
		must(t, err)
		repeating, err := b.AddSimilar(part)
		must(t, err)
		own := add(t, b, odb.Blob, fmt.Append(nil, "own ", i))
		contents[base], contents[repeating], contents[own] = document, part, fmt.Append(nil, "own ", i)
		parent = commit(t, b, parent, base, repeating, own)
		must(t, b.Sync())
		must(t, os.WriteFile(dir+"/refs/heads/main", []byte(parent.String()+"\n"), 0o666))
		must(t, b.Settle())
		must(t, d.Consolidate())
	}
	return contents
}

func packs(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(dir + "/objects/pack/*.pack")
	must(t, err)
	return names
}

func TestConsolidate(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	contents := turns(t, d, dir, 8*odb.JoinPacks)
	if n := len(packs(t, dir)); n >= 2*odb.JoinPacks {
		t.Errorf("%d packs after %d batches", n, 8*odb.JoinPacks)
	}
	noKeeps(t, dir)
	for _, pack := range packs(t, dir) {
		git(t, dir, "index-pack", "--verify", "--strict", pack)
	}
	git(t, dir, "fsck", "--strict", "--full")
	fresh := open(t, dir)
	for _, d := range []*odb.Database{d, fresh} {
		for blob, want := range contents {
			if got, err := d.Blob(blob); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: %q, %v, want %q", blob, got, err, want)
			}
		}
	}
	garbage := git(t, dir, "count-objects", "-v")
	if !strings.Contains(garbage, "garbage: 0") {
		t.Error(garbage)
	}
}

func TestConsolidateSHA256(t *testing.T) {
	dir := gittest.Init(t, "--bare", "--object-format=sha256")
	d, err := odb.Open(dir+"/objects", oid.SHA256)
	must(t, err)
	defer d.Close()
	turns(t, d, dir, odb.JoinPacks)
	if n := len(packs(t, dir)); n != 1 {
		t.Errorf("%d packs", n)
	}
	git(t, dir, "fsck", "--strict", "--full")
}

// TestConsolidateFindsVersions checks that the versions of files that several batches stored become deltas of each other, also
// among new chunks of a binary.
func TestConsolidateFindsVersions(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	random := rand.New(rand.NewPCG(1, 1))
	var files [3][][]byte // their lines
	for i := range files {
		for range 4000 { // more than the window holds
			files[i] = append(files[i], fmt.Appendf(nil, "%x %x %x\n", random.Uint64(), random.Uint64(), random.Uint64()))
		}
	}
	const chunks, chunkSize = 16, 30_000
	contents := map[odb.ID][]byte{}
	var parent odb.ID
	for turn := range odb.JoinPacks {
		if turn == odb.JoinPacks-1 {
			for _, pack := range packs(t, dir) {
				if out := git(t, dir, "verify-pack", "-v", pack); strings.Contains(out, "chain length") {
					t.Errorf("a pack of one batch has deltas: %s", out)
				}
			}
		}
		b := d.Begin()
		var ids []odb.ID
		for range chunks {
			chunk := make([]byte, chunkSize)
			rand.NewChaCha8([32]byte{byte(len(contents)), byte(len(contents) >> 8)}).Read(chunk)
			id := add(t, b, odb.Blob, chunk)
			contents[id], ids = chunk, append(ids, id)
		}
		for i, lines := range files {
			lines[turn*17+i] = fmt.Appendf(nil, "changed in turn %d\n", turn)
			content := bytes.Join(lines, nil)
			id := add(t, b, odb.Blob, content)
			contents[id], ids = content, append(ids, id)
		}
		parent = commit(t, b, parent, ids...)
		must(t, b.Sync())
		must(t, os.WriteFile(dir+"/refs/heads/main", []byte(parent.String()+"\n"), 0o666))
		must(t, b.Settle())
		must(t, d.Consolidate())
	}
	joined := packs(t, dir)
	if len(joined) != 1 {
		t.Fatalf("%d packs", len(joined))
	}
	info, err := os.Stat(joined[0])
	must(t, err)
	if one := int64(len(bytes.Join(slices.Concat(files[:]...), nil))); info.Size()-odb.JoinPacks*chunks*chunkSize > one*2/3 { // hexadecimal digits take half
		t.Errorf("%d bytes for %d versions of %d bytes", info.Size(), odb.JoinPacks, one)
	}
	git(t, dir, "fsck", "--strict", "--full")
	for blob, want := range contents {
		if got, err := open(t, dir).Blob(blob); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v, or other bytes", blob, err)
		}
	}
}

// TestConsolidateLeavesOthers checks that the remains of a killed consolidation are removed, and that
// damaged packs and packs with additional files remain.
func TestConsolidateLeavesOthers(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	turns(t, d, dir, odb.JoinPacks-1)
	there := packs(t, dir)
	foreign := git(t, dir, "pack-objects", "-q", "--all", "objects/pack/pack")
	damaged, kept, half := there[0], there[1], strings.Replace(there[2], "pack-646f6d78", "pack-646f6d78ff", 1)
	data, err := os.ReadFile(damaged)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.Remove(damaged))
	must(t, os.WriteFile(damaged, data, 0o444))
	must(t, os.WriteFile(strings.TrimSuffix(kept, ".pack")+".keep", []byte("mine\n"), 0o444))
	must(t, os.WriteFile(half, data, 0o444))
	turns(t, open(t, dir), dir, 3)
	if _, err := os.Lstat(half); err == nil {
		t.Errorf("%s is left", half)
	}
	for _, name := range []string{damaged, kept, filepath.Join(dir, "objects/pack/pack-"+foreign+".pack")} {
		if _, err := os.Lstat(name); err != nil {
			t.Error(err)
		}
	}
	if n := len(packs(t, dir)); n > 8 {
		t.Errorf("%d packs are left", n)
	}
}
