package packidx_test

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// TestWrite reads indexes with this package and with go-git, also of packs of many gigabytes.
func TestWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := drawIDs(t, oid.SHA1)
		entries := make([]packidx.Entry, len(ids))
		for i, id := range ids {
			entries[i].ID = id
			entries[i].CRC = rapid.Uint32().Draw(t, "checksum")
			entries[i].Offset = rapid.OneOf(rapid.Uint64Range(12, 1<<20), rapid.Uint64Range(1<<31-2, 1<<31+2), rapid.Uint64Range(1<<32, 1<<40)).Draw(t, "offset")
		}
		pack := plumbing.Hash{1, 2, 3}
		var raw bytes.Buffer
		if err := packidx.Write(&raw, oid.SHA1, slices.Clone(entries), pack[:]); err != nil {
			t.Fatal(err)
		}
		theirs := idxfile.NewMemoryIndex()
		if err := idxfile.NewDecoder(bytes.NewReader(raw.Bytes())).Decode(theirs); err != nil {
			t.Fatal(err)
		}
		if n, err := theirs.Count(); err != nil || n != int64(len(ids)) || theirs.PackfileChecksum != pack {
			t.Fatalf("%d objects of pack %s, %v", n, theirs.PackfileChecksum, err)
		}
		ours, err := packidx.Parse(oid.SHA1, raw.Bytes())
		if err != nil || ours.Len() != len(ids) || !bytes.Equal(ours.PackChecksum(), pack[:]) {
			t.Fatalf("%d objects of pack %x, %v", ours.Len(), ours.PackChecksum(), err)
		}
		for _, want := range entries {
			id := want.ID
			at, err := theirs.FindOffset(plumbing.Hash(id.Bytes()))
			crc, failed := theirs.FindCRC32(plumbing.Hash(id.Bytes()))
			if err != nil || failed != nil || uint64(at) != want.Offset || crc != want.CRC {
				t.Fatalf("%s: at %d with checksum %x, %v, %v, expected %d and %x", id, at, crc, err, failed, want.Offset, want.CRC)
			}
			i, ok := ours.Find(id)
			if !ok || ours.ID(i) != id || uint64(ours.Offset(i)) != want.Offset {
				t.Fatalf("%x: number %d, %t, expected offset %d", id, i, ok, want.Offset)
			}
			if crc, ok := ours.CRC(i); !ok || crc != want.CRC {
				t.Fatalf("%x: checksum %x, %t, expected %x", id, crc, ok, want.CRC)
			}
		}
	})
}

// TestSHA256 reads an index with ids of SHA-256, and searches it for ids of SHA-1.
func TestSHA256(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := drawIDs(t, oid.SHA256)
		entries := make([]packidx.Entry, len(ids))
		for i, id := range ids {
			entries[i] = packidx.Entry{ID: id, CRC: uint32(i), Offset: rapid.OneOf(rapid.Uint64Range(12, 1<<20), rapid.Uint64Range(1<<32, 1<<40)).Draw(t, "offset")}
		}
		pack := bytes.Repeat([]byte{7}, 32)
		var raw bytes.Buffer
		if err := packidx.Write(&raw, oid.SHA256, slices.Clone(entries), pack); err != nil {
			t.Fatal(err)
		}
		x, err := packidx.Parse(oid.SHA256, raw.Bytes())
		if err != nil || x.Len() != len(ids) || !bytes.Equal(x.PackChecksum(), pack) {
			t.Fatalf("%d objects, %v", x.Len(), err)
		}
		for _, want := range entries {
			i, ok := x.Find(want.ID)
			sum, summed := x.CRC(i)
			if !ok || x.ID(i) != want.ID || uint64(x.Offset(i)) != want.Offset || !summed || sum != want.CRC {
				t.Fatalf("%s: number %d, %t, at %d", want.ID, i, ok, x.Offset(i))
			}
			if _, ok := x.Find(oid.FromBytes(want.ID.Bytes()[:20])); ok {
				t.Fatalf("%s is found by its first 20 bytes", want.ID)
			}
		}
		if len(ids) > 0 {
			if x, err := packidx.Parse(oid.SHA1, raw.Bytes()); err == nil && x.Len() == len(ids) && bytes.Equal(x.PackChecksum(), pack[:20]) {
				t.Fatal("an index of SHA-256 passes for one of SHA-1")
			}
		}
	})
}

func drawIDs(t *rapid.T, by oid.Hash) []oid.ID {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) oid.ID {
		return oid.FromBytes(rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 255})), by.Size(), by.Size()).
			Filter(func(b []byte) bool { return !oid.FromBytes(b).IsZero() }).Draw(t, "id"))
	}), 0, 300, rapid.ID[oid.ID]).Draw(t, "ids")
}

func idOf(i int) oid.ID {
	sum := sha1.Sum(fmt.Append(nil, i))
	return oid.FromBytes(sum[:])
}

func FuzzParse(f *testing.F) {
	var raw bytes.Buffer
	if err := packidx.Write(&raw, oid.SHA1, []packidx.Entry{{ID: idOf(1), Offset: 12}, {ID: idOf(2), Offset: 1 << 40}}, make([]byte, 20)); err != nil {
		f.Fatal(err)
	}
	f.Add(raw.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := packidx.Parse(oid.SHA1, raw)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) && !errors.Is(err, domarkx.ErrUnsupported) {
				t.Error(err)
			}
			return
		}
		x.PackChecksum()
		for i := range x.Len() {
			x.Find(x.ID(i))
			x.Offset(i)
			x.CRC(i)
		}
	})
}

// BenchmarkFind opens the index of 100,000 objects and finds ten of them, as a command
// does, with this package and with go-git.
func BenchmarkFind(b *testing.B) {
	entries := make([]packidx.Entry, 100_000)
	for i := range entries {
		entries[i] = packidx.Entry{ID: idOf(i), Offset: uint64(12 + i)}
	}
	var raw bytes.Buffer
	if err := packidx.Write(&raw, oid.SHA1, entries, make([]byte, 20)); err != nil {
		b.Fatal(err)
	}
	b.Run("packidx", func(b *testing.B) {
		for b.Loop() {
			x, err := packidx.Parse(oid.SHA1, raw.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			for i := range 10 {
				if _, ok := x.Find(entries[i*9000].ID); !ok {
					b.Fatal("not found")
				}
			}
		}
	})
	b.Run("go-git", func(b *testing.B) {
		for b.Loop() {
			x := idxfile.NewMemoryIndex()
			if err := idxfile.NewDecoder(bytes.NewReader(raw.Bytes())).Decode(x); err != nil {
				b.Fatal(err)
			}
			for i := range 10 {
				if _, err := x.FindOffset(plumbing.Hash(entries[i*9000].ID.Bytes())); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkWrite writes the index of 100,000 objects, with this package and with go-git.
func BenchmarkWrite(b *testing.B) {
	entries := make([]packidx.Entry, 100_000)
	for i := range entries {
		entries[i] = packidx.Entry{ID: idOf(i), Offset: uint64(12 + i)}
	}
	b.Run("packidx", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := packidx.Write(io.Discard, oid.SHA1, slices.Clone(entries), make([]byte, 20)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-git", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var w idxfile.Writer
			err := w.OnHeader(uint32(len(entries)))
			for _, e := range entries {
				w.Add(plumbing.Hash(e.ID.Bytes()), e.Offset, e.CRC)
			}
			if err == nil {
				err = w.OnFooter(plumbing.Hash{})
			}
			x, indexErr := w.Index()
			if err == nil {
				err = indexErr
			}
			if err == nil {
				_, err = idxfile.NewEncoder(io.Discard).Encode(x)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
