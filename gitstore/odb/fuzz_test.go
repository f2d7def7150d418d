package odb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
)

func FuzzDecodePointer(f *testing.F) {
	f.Add(odb.Pointer{Size: 1 << 30, Chunks: odb.ID{1}}.Encode())
	f.Add([]byte("domarkx-large 1\nsize 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := odb.DecodePointer(data); err == nil && !bytes.Equal(p.Encode(), data) {
			t.Errorf("%q has another encoding, %q", data, p.Encode())
		}
	})
}

func FuzzDecodeTree(f *testing.F) {
	f.Add([]byte("100644 a\x0012345678901234567890"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := odb.DecodeTree(data)
		if err != nil {
			return
		}
		if again, err := odb.EncodeTree(entries); err == nil && len(again) > len(data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}

func FuzzDecodeLoose(f *testing.F) {
	f.Add(compressed([]byte("blob 5\x00hello")))
	f.Add(compressed([]byte("blob 9\x00hello")))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, err := odb.DecodeLoose(data); err != nil && !expected(err) {
			t.Error(err)
		}
	})
}

func FuzzApplyDelta(f *testing.F) {
	f.Add([]byte("0123456789"), []byte{10, 5, 0x90, 4, 1, 'x'})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if _, err := odb.ApplyDelta(base, delta); err != nil && !expected(err) {
			t.Error(err)
		}
	})
}

// seedPack returns a pack that Git wrote, with deltas, and its index.
func seedPack(f *testing.F) (pack, idx []byte) {
	dir := bare(f)
	history(f, dir, 4)
	git(f, dir, "repack", "-adfq")
	names, err := filepath.Glob(dir + "/objects/pack/*.pack")
	must(f, err)
	pack, err = os.ReadFile(names[0])
	must(f, err)
	idx, err = os.ReadFile(strings.TrimSuffix(names[0], "pack") + "idx")
	must(f, err)
	return pack, idx
}

func FuzzIndex(f *testing.F) {
	_, idx := seedPack(f)
	f.Add(idx, []byte(idx[1032:1052]))
	f.Fuzz(func(t *testing.T, raw, name []byte) {
		var id odb.ID
		copy(id[:], name)
		if _, _, _, err := odb.FindInIndex(raw, id); err != nil && !expected(err) {
			t.Error(err)
		}
		ids, _ := odb.IndexedIDs(raw)
		for _, id := range ids {
			odb.FindInIndex(raw, id)
		}
	})
}

func FuzzPack(f *testing.F) {
	pack, idx := seedPack(f)
	f.Add(pack[12 : len(pack)-20])
	ids, err := odb.IndexedIDs(idx)
	must(f, err)
	dir := bare(f)
	name := filepath.Join(dir, "objects/pack/pack-"+strings.Repeat("1", 40))
	must(f, os.WriteFile(name+".idx", idx, 0o644))
	f.Fuzz(func(t *testing.T, body []byte) {
		// The checksum stands as the index has it, so that the body is looked at.
		whole := append(append(bytes.Clone(pack[:12]), body...), pack[len(pack)-20:]...)
		os.Remove(name + ".pack")
		must(t, os.WriteFile(name+".pack", whole, 0o644))
		d, err := odb.Open(dir, "")
		must(t, err)
		defer d.Close()
		for _, id := range ids {
			if kind, data, err := d.Read(id); err == nil && odb.Sum(kind, data) != id {
				t.Errorf("%s: read what is not its content", id)
			}
			d.Size(id)
		}
	})
}
