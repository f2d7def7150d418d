package odb_test

import (
	"bytes"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// TestPackIndex: an index has of each object what was put in, also in packs of many gigabytes.
func TestPackIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) odb.ID {
			return odb.ID(rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 255})), 20, 20).Draw(t, "id"))
		}), 0, 300, rapid.ID[odb.ID]).Draw(t, "ids")
		crcs, offsets := make([]uint32, len(ids)), make([]uint64, len(ids))
		for i := range ids {
			crcs[i] = rapid.Uint32().Draw(t, "checksum")
			offsets[i] = rapid.OneOf(rapid.Uint64Range(12, 1<<20), rapid.Uint64Range(1<<31-2, 1<<31+2), rapid.Uint64Range(1<<32, 1<<40)).Draw(t, "offset")
		}
		pack := [20]byte{1, 2, 3}
		var raw bytes.Buffer
		if err := odb.WritePackIndex(&raw, ids, crcs, offsets, pack); err != nil {
			t.Fatal(err)
		}
		theirs := idxfile.NewMemoryIndex()
		if err := idxfile.NewDecoder(bytes.NewReader(raw.Bytes())).Decode(theirs); err != nil {
			t.Fatal(err)
		}
		if n, err := theirs.Count(); err != nil || n != int64(len(ids)) || theirs.PackfileChecksum != plumbing.Hash(pack) {
			t.Fatalf("%d objects of pack %s, %v", n, theirs.PackfileChecksum, err)
		}
		for i, id := range ids {
			at, err := theirs.FindOffset(plumbing.Hash(id))
			crc, failed := theirs.FindCRC32(plumbing.Hash(id))
			if err != nil || failed != nil || uint64(at) != offsets[i] || crc != crcs[i] {
				t.Fatalf("%s: at %d with checksum %x, %v, %v, expected %d and %x", id, at, crc, err, failed, offsets[i], crcs[i])
			}
			if at, _, ok, err := odb.FindInIndex(raw.Bytes(), id); err != nil || !ok || uint64(at) != offsets[i] {
				t.Fatalf("%s: at %d, %t, %v, expected %d", id, at, ok, err, offsets[i])
			}
		}
	})
}
