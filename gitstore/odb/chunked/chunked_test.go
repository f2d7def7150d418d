package chunked_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// noise returns n random bytes that depend on the seed.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(data)
	return data
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 16 << 10, 16<<10 + 1, 256 << 10, 300_000, 20 << 20} {
		if testing.Short() {
			n = min(n, 6<<20) // a hundred chunks are two levels of trees, too
		}
		dir := bare(t)
		d := open(t, dir)
		data := noise(uint64(n), n)
		b := d.Begin()
		pointer, chunks, size, err := chunked.Add(b, bytes.NewReader(data))
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
		if !chunked.IsPointer(oid.SHA1, text) {
			t.Errorf("pointer %q", text)
		}
		l, size, err := chunked.Open(d, pointer, chunks)
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

// TestSmallChange checks that a change in large content costs few chunks and nodes.
func TestSmallChange(t *testing.T) {
	d := open(t, bare(t))
	size := 32 << 20
	if testing.Short() {
		size = 12 << 20
	}
	data := noise(1, size)
	b := d.Begin() // which shares what is equal
	defer b.Abort()
	_, _, _, err := chunked.Add(b, bytes.NewReader(data))
	must(t, err)
	objects, total := b.Stats()
	if mean := total / int64(objects); mean < 56<<10 || mean > 72<<10 {
		t.Errorf("%d objects, %d bytes each; want about 64 KiB", objects, mean)
	}
	middle := size/2 - 1<<20
	for name, changed := range map[string][]byte{
		"prepend": append([]byte("inserted"), data...),
		"insert":  append(append(bytes.Clone(data[:middle]), "inserted"...), data[middle:]...),
		"delete":  append(bytes.Clone(data[:middle]), data[middle+1:]...),
		"append":  append(bytes.Clone(data), "appended"...),
	} {
		objects, total := b.Stats()
		_, _, _, err = chunked.Add(b, bytes.NewReader(changed))
		must(t, err)
		more, moreBytes := b.Stats()
		if more-objects > 12 || moreBytes-total > 1<<20 {
			t.Errorf("%s costs %d objects, %d bytes", name, more-objects, moreBytes-total)
		}
	}
}

// TestFormat compares ids with the examples in SPEC.md, which must never change.
func TestFormat(t *testing.T) {
	d := open(t, bare(t))
	b := d.Begin()
	defer b.Abort()
	var text bytes.Buffer
	for i := range 400_000 {
		fmt.Fprintf(&text, "%d %x\n", i, uint32(i)*2654435761)
	}
	for _, test := range []struct {
		name            string
		content         []byte
		pointer, chunks string
	}{
		{"empty", nil, "41966ea307729d677b2686752419ef0549b75b17", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{"zeros", make([]byte, 80<<20), "03f7123e7bd6ae9f3b4cdf5a2395b2578c434928", "35be595b7635afb77f37aefa3f9be4262b8d5205"},
		{"text", text.Bytes(), "07d6ed89c78df9783c33a374489428c328c1cf01", "c2a1b12ac3df8a35fc2401a565be0c731182d2ed"},
	} {
		if testing.Short() && len(test.content) > 20<<20 {
			continue // a second of compression; the text has chunks and nodes as well
		}
		pointer, chunks, _, err := chunked.Add(b, bytes.NewReader(test.content))
		must(t, err)
		if pointer.String() != test.pointer || chunks.String() != test.chunks {
			t.Errorf("%s: pointer %s, chunks %s; want %s, %s", test.name, pointer, chunks, test.pointer, test.chunks)
		}
	}
}

func TestOpenInvalid(t *testing.T) {
	d := open(t, bare(t))
	b := d.Begin()
	pointer, chunks, _, err := chunked.Add(b, bytes.NewReader(noise(7, 1<<20)))
	must(t, err)
	empty, err := b.AddTree(nil)
	must(t, err)
	text := chunked.Pointer{Size: 1 << 20, Chunks: chunks}.Encode() // zero SHA-256
	wrongSum := add(t, b, odb.Blob, text)
	wrongSize := add(t, b, odb.Blob, chunked.Pointer{Size: 1<<20 + 1, Chunks: chunks}.Encode())
	must(t, b.Sync())
	must(t, b.Settle())
	for name, ids := range map[string][2]odb.ID{
		"other tree": {pointer, empty}, "no pointer": {empty, chunks}, "other size": {wrongSize, chunks},
	} {
		if _, _, err := chunked.Open(d, ids[0], ids[1]); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l, _, err := chunked.Open(d, wrongSum, chunks)
	must(t, err)
	if _, err := io.Copy(io.Discard, l); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("other SHA-256: %v", err)
	}
}

// TestConcurrentReadsOfDeltas reads chunks that Git stored as deltas of each other, from
// several goroutines.
func TestConcurrentReadsOfDeltas(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	size := 3 << 20
	if testing.Short() {
		size = 1 << 20
	}
	one := noise(7, size)
	two := bytes.Clone(one)
	for i := 50_000; i < len(two); i += 100_000 {
		two[i]++
	}
	b := d.Begin()
	entries := make([]odb.TreeEntry, 0, 4)
	pointers, trees := make([]odb.ID, 2), make([]odb.ID, 2)
	for i, data := range [][]byte{one, two} {
		var err error
		pointers[i], trees[i], _, err = chunked.Add(b, bytes.NewReader(data))
		must(t, err)
		name := string('a' + rune(i))
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: name, ID: pointers[i]}, odb.TreeEntry{Mode: odb.ModeTree, Name: name + ".chunks", ID: trees[i]})
	}
	tree, err := b.AddTree(entries)
	must(t, err)
	tip := add(t, b, odb.Commit, []byte("tree "+tree.String()+"\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nm\n"))
	must(t, b.Sync())
	git(t, dir, "update-ref", "refs/heads/main", tip.String())
	must(t, b.Settle())
	git(t, dir, "repack", "-adfq", "--window=250")
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.idx"))
	must(t, err)
	if out := git(t, dir, "verify-pack", "-v", packs[0]); !strings.Contains(out, "chain length = 1") {
		t.Fatal("git made no deltas")
	}
	for i, data := range [][]byte{one, two} {
		l, _, err := chunked.Open(d, pointers[i], trees[i])
		must(t, err)
		var readers sync.WaitGroup
		for from := 0; from < len(data); from += size / 4 {
			readers.Go(func() {
				p := make([]byte, size/4)
				if n, err := l.ReadAt(p, int64(from)); n != len(p) || err != nil || !bytes.Equal(p, data[from:from+n]) {
					t.Errorf("at %d: %d, %v", from, n, err)
				}
			})
		}
		readers.Wait()
	}
}

// TestCompression checks that originals, files and chunks are compressed nearly as well as Git compresses them.
func TestCompression(t *testing.T) {
	var text []byte
	words := strings.Fields("the quick brown function returns an error if nil for each range of strings in the package")
	for r := rand.New(rand.NewPCG(1, 2)); len(text) < 2<<20; {
		text = append(append(text, words[r.IntN(len(words))]...), ' ')
	}
	size := func(add func(*odb.Batch) error) int64 {
		t.Helper()
		dir := bare(t)
		d := open(t, dir)
		b := d.Begin()
		must(t, add(b))
		must(t, b.Sync())
		must(t, b.Settle())
		packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
		must(t, err)
		if len(packs) != 1 {
			t.Fatalf("packs %q, want one", packs)
		}
		info, err := os.Stat(packs[0])
		must(t, err)
		return info.Size()
	}
	parts := func(add func([]byte) (odb.ID, error)) error {
		for part := range slices.Chunk(text, 64<<10) {
			if _, err := add(part); err != nil {
				return err
			}
		}
		return nil
	}
	originals := size(func(b *odb.Batch) error { return parts(b.AddBase) })
	files := size(func(b *odb.Batch) error {
		return parts(func(data []byte) (odb.ID, error) { return b.Add(odb.Blob, data) })
	})
	chunks := size(func(b *odb.Batch) error {
		_, _, _, err := chunked.Add(b, bytes.NewReader(text))
		return err
	})
	var zipped bytes.Buffer
	for part := range slices.Chunk(text, 64<<10) {
		w := zlib.NewWriter(&zipped) // at Git's level
		_, err := w.Write(part)
		must(t, errors.Join(err, w.Close()))
	}
	if most := int64(zipped.Len()) * 6 / 5; max(originals, files, chunks) > most {
		t.Errorf("%d bytes of originals, %d of files, %d of chunks; want at most %d", originals, files, chunks, most)
	}
}

// BenchmarkAdd stores 200 MiB.
func BenchmarkAdd(b *testing.B) {
	data := noise(3, 200<<20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		b.StopTimer()
		d := open(b, bare(b))
		b.StartTimer()
		batch := d.Begin()
		_, _, _, err := chunked.Add(batch, bytes.NewReader(data))
		must(b, err)
		must(b, batch.Sync())
		must(b, batch.Settle())
	}
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return gittest.Run(t, dir, args...)
}

func bare(t testing.TB) string {
	t.Helper()
	return gittest.Init(t, "--bare")
}

// open opens the objects of a bare repository.
func open(t testing.TB, dir string) *odb.Database {
	t.Helper()
	d, err := odb.Open(dir+"/objects", oid.SHA1)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

func add(t testing.TB, b *odb.Batch, kind odb.Type, data []byte) odb.ID {
	t.Helper()
	id, err := b.Add(kind, data)
	must(t, err)
	return id
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
