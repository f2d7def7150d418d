package odb_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func compressed(data []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(data)
	w.Close()
	return out.Bytes()
}

func expected(err error) bool {
	return errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrUnsupported)
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestDecodeLoose(t *testing.T) {
	for text, good := range map[string]bool{
		"blob 5\x00hello":                     true,
		"tag 0\x00":                           true,
		"blob 05\x00hello":                    false,
		"blob +5\x00hello":                    false,
		"blob 4\x00hello":                     false,
		"blob 6\x00hello":                     false,
		"blob -1\x00":                         false,
		"blob 5hello":                         false,
		"blob  5\x00hello":                    false,
		"note 5\x00hello":                     false,
		"":                                    false,
		"blob 99999999999999999999999999\x00": false,
		"blob 200000000\x00hello":             false,
		"blob 9000000000000000000\x00hello":   false,
	} {
		var err error
		size := allocated(func() { _, _, err = odb.DecodeLoose(compressed([]byte(text))) })
		if good != (err == nil) || err != nil && !expected(err) {
			t.Errorf("%q: %v", text, err)
		}
		if size > 16<<20 {
			t.Errorf("%q: takes %d bytes of memory", text, size)
		}
	}
	if _, _, err := odb.DecodeLoose(append(compressed([]byte("blob 1\x00x")), 0)); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("trailing byte: %v", err)
	}
	wrongSum := compressed([]byte("blob 1\x00x"))
	wrongSum[len(wrongSum)-1]++
	if _, _, err := odb.DecodeLoose(wrongSum); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("wrong checksum: %v", err)
	}
}

// A packed is an object for writePack.
type packed struct {
	kind  byte
	size  int // declared size
	extra []byte
	data  []byte // compressed
}

// writePack writes a pack with an index, and returns invented ids that do not match the contents.
func writePack(t testing.TB, dir string, objects []packed) []odb.ID {
	t.Helper()
	pack := []byte("PACK\x00\x00\x00\x02")
	pack = binary.BigEndian.AppendUint32(pack, uint32(len(objects)))
	var ids, offsets []byte
	names := make([]odb.ID, len(objects))
	for i, o := range objects {
		names[i] = oid.FromBytes([]byte{byte(i), 1, 19: 0})
		ids = append(ids, names[i].Bytes()...)
		offsets = binary.BigEndian.AppendUint32(offsets, uint32(len(pack)))
		size := uint64(o.size)
		c := o.kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			pack = append(pack, c|0x80)
			c = byte(size & 0x7f)
		}
		pack = append(append(append(pack, c), o.extra...), o.data...)
	}
	sum := sha1.Sum(pack)
	pack = append(pack, sum[:]...)
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		idx = binary.BigEndian.AppendUint32(idx, uint32(min(i+1, len(objects))))
	}
	idx = append(idx, ids...)
	idx = append(idx, make([]byte, 4*len(objects))...) // CRCs
	idx = append(append(idx, offsets...), sum[:]...)
	own := sha1.Sum(idx)
	idx = append(idx, own[:]...)
	base := filepath.Join(dir, "objects/pack/pack-"+strings.Repeat("1", 40))
	must(t, os.WriteFile(base+".pack", pack, 0o444))
	must(t, os.WriteFile(base+".idx", idx, 0o444))
	return names
}

func TestHostilePacks(t *testing.T) {
	insert := compressed([]byte{1, 1, 1, 'x'})
	self := oid.FromBytes([]byte{0, 1, 19: 0})
	second := oid.FromBytes([]byte{1, 1, 19: 0})
	bomb := binary.AppendUvarint(binary.AppendUvarint(nil, 1<<20), 1<<40)
	chain := []packed{{kind: 3, size: 1, data: compressed([]byte("a"))}}
	for range 200 {
		chain = append(chain, packed{kind: 6, size: 4, extra: []byte{byte(len(chain[len(chain)-1].extra) + 1 + len(chain[len(chain)-1].data))}, data: insert})
	}
	for name, objects := range map[string][]packed{
		"base is itself":       {{kind: 7, size: 4, extra: self.Bytes(), data: insert}},
		"circle":               {{kind: 7, size: 4, extra: second.Bytes(), data: insert}, {kind: 7, size: 4, extra: self.Bytes(), data: insert}},
		"base elsewhere":       {{kind: 7, size: 4, extra: bytes.Repeat([]byte{9}, 20), data: insert}},
		"base before the pack": {{kind: 6, size: 4, extra: []byte{0x7f}, data: insert}},
		"base at zero":         {{kind: 6, size: 4, extra: []byte{0}, data: insert}},
		"endless offset":       {{kind: 6, size: 4, extra: bytes.Repeat([]byte{0xff}, 30), data: insert}},
		"type 5":               {{kind: 5, size: 1, data: compressed([]byte("a"))}},
		"type 0":               {{kind: 0, size: 1, data: compressed([]byte("a"))}},
		"huge size":            {{kind: 3, size: 1 << 62, data: compressed([]byte("a"))}},
		"large size":           {{kind: 3, size: 200 << 20, data: compressed([]byte("a"))}},
		"wrong content":        {{kind: 3, size: 1, data: compressed([]byte("a"))}},
		"no zlib":              {{kind: 3, size: 1, data: []byte("nothing of that kind")}},
		"delta bomb":           {{kind: 3, size: 1 << 20, data: compressed(make([]byte, 1<<20))}, {kind: 7, size: len(bomb), extra: self.Bytes(), data: compressed(bomb)}},
		"chain":                chain,
	} {
		dir := bare(t)
		d := open(t, dir)
		names := writePack(t, dir, objects)
		size := allocated(func() {
			for _, name := range names {
				if _, _, err := d.Read(name); err == nil || !expected(err) {
					t.Errorf("%s: read: %v", name, err)
				}
				d.Size(name)
				d.Has(name)
			}
		})
		if size > 64<<20 {
			t.Errorf("%s: takes %d bytes of memory", name, size)
		}
	}
}

// TestSoundCopyElsewhere checks that an intact copy is found beside a damaged pack, and other packs
// beside a damaged index.
func TestSoundCopyElsewhere(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	blob := id(t, gitInput(t, dir, "content", "hash-object", "-w", "--stdin"))
	pack := gitInput(t, dir, blob.String()+"\n", "pack-objects", "-q", "objects/pack/pack")
	name := filepath.Join(dir, "objects/pack/pack-"+pack+".pack")
	must(t, os.Chmod(name, 0o644))
	content, err := os.ReadFile(name)
	must(t, err)
	content[20] ^= 0xff
	must(t, os.WriteFile(name, content, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "objects/pack/pack-0.idx"), []byte("no index"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "objects/pack/pack-0.pack"), []byte("no pack"), 0o644))
	d.Has(odb.ID{}) // makes the Database read the packs first
	if data, err := d.Blob(blob); err != nil || string(data) != "content" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, os.Remove(filepath.Join(dir, "objects", blob.String()[:2], blob.String()[2:])))
	if _, err := d.Blob(blob); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("damaged object: %v", err)
	}
}

func TestPathLists(t *testing.T) {
	for in, want := range map[string]string{
		``: `[]`, `/a`: `["/a"]`, `/a:/b`: `["/a" "/b"]`, `::/a:`: `["/a"]`, `"/a:b":/c`: `["/a:b" "/c"]`,
		`"/a\tb"`: `["/a\tb"]`, `"/\303\244"`: `["/ä"]`, `"/a`: `["\"/a"]`, `"/\9"`: `["\"/\\9\""]`, `"a"b:c`: `["\"a\"b" "c"]`,
	} {
		if got := fmt.Sprintf("%q", odb.SplitList(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestEncodeTree(t *testing.T) {
	one := oid.FromBytes([]byte{1, 19: 0})
	for name, bad := range map[string][]odb.TreeEntry{
		"twice":         {{Mode: odb.ModeFile, Name: "a", ID: one}, {Mode: odb.ModeTree, Name: "a", ID: one}},
		"slash":         {{Mode: odb.ModeFile, Name: "a/b", ID: one}},
		"empty":         {{Mode: odb.ModeFile, Name: "", ID: one}},
		"dot":           {{Mode: odb.ModeFile, Name: ".", ID: one}},
		"dots":          {{Mode: odb.ModeFile, Name: "..", ID: one}},
		"NUL":           {{Mode: odb.ModeFile, Name: "a\x00b", ID: one}},
		"git":           {{Mode: odb.ModeFile, Name: ".GIT", ID: one}},
		"git short":     {{Mode: odb.ModeTree, Name: "git~1 .", ID: one}},
		"git stream":    {{Mode: odb.ModeTree, Name: ".git::$INDEX_ALLOCATION", ID: one}},
		"git hidden":    {{Mode: odb.ModeTree, Name: ".g\u200cit", ID: one}},
		"git backslash": {{Mode: odb.ModeFile, Name: `a\.git`, ID: one}},
		"mode":          {{Mode: 0o100664, Name: "a", ID: one}},
		"no id":         {{Mode: odb.ModeFile, Name: "a"}},
	} {
		if _, err := odb.EncodeTree(oid.SHA1, bad); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"100644 a", "100644 a\x00short", "x a\x0012345678901234567890", "100644 \x0012345678901234567890", "40000 ..\x0012345678901234567890"} {
		if _, err := odb.DecodeTree(oid.SHA1, []byte(bad)); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestTreeIsGits compares encoded trees with those of `git mktree`.
func TestTreeIsGits(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	blob := id(t, gitInput(t, dir, "x", "hash-object", "-w", "--stdin"))
	empty := id(t, gitInput(t, dir, "", "mktree"))
	rapid.Check(t, func(r *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.RuneFrom([]rune("ab.-0/é\x01\n "+string(rune(0x10ffff)))), 1, 4, -1), 0, 12, rapid.ID[string]).Draw(r, "names")
		var entries []odb.TreeEntry
		var list strings.Builder
		for i, name := range names {
			if odb.CheckName(name) != nil {
				continue
			}
			e := odb.TreeEntry{Mode: []uint32{odb.ModeFile, odb.ModeExecutable, odb.ModeSymlink, odb.ModeTree}[i%4], Name: name, ID: blob}
			if e.IsTree() {
				e.ID = empty
			}
			entries = append(entries, e)
			fmt.Fprintf(&list, "%06o %s %s\t%s\x00", e.Mode, map[bool]string{true: "tree", false: "blob"}[e.IsTree()], e.ID, name)
		}
		data, err := odb.EncodeTree(oid.SHA1, entries)
		if err != nil {
			r.Fatal(err)
		}
		want := gitInput(t, dir, list.String(), "mktree", "-z")
		if got := odb.Sum(oid.SHA1, odb.Tree, data); got.String() != want {
			r.Fatalf("%q: tree %s, git makes %s", names, got, want)
		}
		again, err := d.Tree(id(t, want))
		if err != nil || len(again) != len(entries) {
			r.Fatalf("%q: read %v, %v", names, again, err)
		}
	})
}

func TestRandomObjectsRoundTrip(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	rapid.Check(t, func(r *rapid.T) {
		b := d.Begin()
		defer b.Abort()
		want := map[odb.ID][]byte{}
		for _, data := range rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 100).Draw(r, "objects") {
			name, err := b.Add(odb.Blob, data)
			if err != nil || name != odb.Sum(oid.SHA1, odb.Blob, data) {
				r.Fatalf("%s, %v", name, err)
			}
			want[name] = data
		}
		if err := errors.Join(b.Sync(), b.Settle()); err != nil {
			r.Fatal(err)
		}
		for name, data := range want {
			if got, err := d.Blob(name); err != nil || !bytes.Equal(got, data) {
				r.Fatalf("%s: %q, %v; want %q", name, got, err, data)
			}
		}
	})
	git(t, dir, "fsck", "--strict", "--full")
}
