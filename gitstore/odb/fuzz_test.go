package odb_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func FuzzDecodeTree(f *testing.F) {
	f.Add([]byte("100644 a\x0012345678901234567890"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := odb.DecodeTree(oid.SHA1, data)
		if err != nil {
			return
		}
		if again, err := odb.EncodeTree(oid.SHA1, entries); err == nil && len(again) > len(data) {
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

// seedPack creates a repository whose pack has every kind of entry. base is the path of the pack
// without extension.
func seedPack(f *testing.F) (pack, idx []byte, base string, ids []odb.ID) {
	dir := f.TempDir()
	must(f, os.MkdirAll(filepath.Join(dir, "objects/pack"), 0o755))
	first := [20]byte{0, 1}
	blob := compressed([]byte("0123456789"))
	delta := compressed([]byte{10, 5, 0x90, 4, 1, 'x'})
	ids = writePack(f, dir, []packed{
		{kind: 3, size: 10, data: blob},
		{kind: 6, size: 6, extra: []byte{byte(1 + len(blob))}, data: delta},
		{kind: 7, size: 6, extra: first[:], data: delta},
		{kind: 1, size: 10, data: blob},
	})
	base = filepath.Join(dir, "objects/pack/pack-"+strings.Repeat("1", 40))
	for extension, content := range map[string]*[]byte{".pack": &pack, ".idx": &idx} {
		var err error
		*content, err = os.ReadFile(base + extension)
		must(f, err)
	}
	return pack, idx, base, ids
}

func FuzzPack(f *testing.F) {
	pack, _, base, ids := seedPack(f)
	f.Add(pack[12 : len(pack)-20])
	f.Fuzz(func(t *testing.T, body []byte) {
		// The checksum matches the index, so that the body is read.
		whole := append(append(bytes.Clone(pack[:12]), body...), pack[len(pack)-20:]...)
		os.Remove(base + ".pack")
		must(t, os.WriteFile(base+".pack", whole, 0o644))
		d, err := odb.Open(filepath.Dir(filepath.Dir(base)), oid.SHA1)
		must(t, err)
		defer d.Close()
		for _, id := range ids {
			if kind, data, err := d.Read(id); err == nil && odb.Sum(oid.SHA1, kind, data) != id {
				t.Errorf("%s: read what is not its content", id)
			}
			d.Size(id)
		}
	})
}
