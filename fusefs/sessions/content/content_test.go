package content_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// TestAsBytes makes random changes to a content and to plain bytes, which stay equal, whether the content is in memory or, once it
// is large, in a file. What Bytes returned never changes, and neither do the bytes that a content began with.
func TestAsBytes(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		inMemory, dir := seed%2 == 0, t.TempDir()
		most := 3000
		if seed%10 < 2 {
			most = 3 << 20 // beyond what is in memory
		}
		begun := bytes.Repeat([]byte("begun"), r.IntN(most/10+1))
		want, before := slices.Clone(begun), slices.Clone(begun)
		c := content.Of(begun)
		type taken struct{ got, then []byte }
		var all []taken
		for range 40 {
			off, length := r.IntN(most), r.IntN(most/4)
			switch r.IntN(5) {
			case 0:
				if err := c.Truncate(int64(off), inMemory, dir); err != nil {
					t.Fatal(err)
				}
				want = append(want, make([]byte, max(0, off-len(want)))...)[:off]
			case 1:
				if err := c.Zero(int64(off), int64(length)); err != nil {
					t.Fatal(err)
				}
				if off < len(want) {
					clear(want[off:min(off+length, len(want))])
				}
			case 2:
				got, err := c.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, taken{got, slices.Clone(got)})
			default:
				p := make([]byte, 1+length)
				for i := range p {
					p[i] = byte(r.Uint32())
				}
				if err := c.WriteAt(p, int64(off), inMemory, dir); err != nil {
					t.Fatal(err)
				}
				want = append(want, make([]byte, max(0, off+len(p)-len(want)))...)
				copy(want[off:], p)
			}
			p := make([]byte, 1+length)
			n, err := c.ReadAt(p, int64(off))
			if expected := want[min(off, len(want)):min(off+len(p), len(want))]; err != nil || !bytes.Equal(p[:n], expected) {
				t.Fatalf("seed %d: ReadAt(%d bytes at %d): %d bytes, %v, want %d", seed, len(p), off, n, err, len(expected))
			}
		}
		got, err := c.Bytes()
		if err != nil || !bytes.Equal(got, want) || c.Size != int64(len(want)) {
			t.Errorf("seed %d: %d bytes, %v, want %d", seed, len(got), err, len(want))
		}
		for i, b := range all {
			if !bytes.Equal(b.got, b.then) {
				t.Errorf("seed %d: what was read at %d changed", seed, i)
			}
		}
		if !bytes.Equal(begun, before) {
			t.Errorf("seed %d: the first bytes changed", seed)
		}
		c.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("seed %d: files are left: %v, %v", seed, left, err)
		}
	}
}
