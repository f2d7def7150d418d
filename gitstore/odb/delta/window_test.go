package delta_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/gitstore/odb/delta"
)

// noise returns n random bytes that depend on the seed.
func noise(seed uint64, n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}).Read(data)
	return data
}

// TestWindowDelta checks that applying a delta returns the content that it was created for.
func TestWindowDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w delta.Window
		var bases [][]byte
		for range rapid.IntRange(1, 5).Draw(t, "bases") {
			seed := rapid.Uint64().Draw(t, "seed")
			base := noise(seed, rapid.OneOf(rapid.IntRange(1, 100_000), rapid.IntRange(1, 3_000_000)).Draw(t, "size"))
			if rapid.Bool().Draw(t, "repetitive") {
				base = bytes.Repeat(base[:min(len(base), 1000)], 70)
			}
			w.Put(base)
			bases = append(bases, base)
		}
		for range 20 {
			var content []byte
			for range rapid.IntRange(0, 6).Draw(t, "pieces") {
				base := rapid.SampledFrom(bases).Draw(t, "base")
				from := rapid.IntRange(0, len(base)).Draw(t, "from")
				content = append(content, base[from:rapid.IntRange(from, len(base)).Draw(t, "to")]...)
				content = append(content, rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "own")...)
			}
			d, base := w.Delta(nil, content)
			if base == nil {
				continue
			}
			if len(d) > len(content)/2 {
				t.Fatalf("a delta of %d bytes for %d", len(d), len(content))
			}
			if result, err := delta.Apply(base.Content(), d, 1<<30); err != nil || !bytes.Equal(result, content) {
				t.Fatalf("the delta has another result, %v", err)
			}
		}
	})
}

// TestPutSimilar checks that an object that repeats most of an earlier one, at any place, becomes a delta against that
// from which it can be restored, and that it is a base itself.
func TestPutSimilar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w delta.Window
		snapshot := noise(rapid.Uint64().Draw(t, "snapshot"), 60_000)
		repeated := 0
		contents := map[*delta.Base][]byte{}
		for i := range rapid.SampledFrom([]int{2, 3, 4, 5, 5, 5, 5, 90}).Draw(t, "objects") {
			content := noise(uint64(i)*7919, rapid.IntRange(10, 20_000).Draw(t, "before"))
			content = append(content, snapshot...)
			d, base, own := w.PutSimilar(nil, content)
			if own == nil {
				t.Fatal("an object is no base")
			}
			contents[own] = content
			if found, b := w.Delta(nil, content[100:2000]); b != own {
				t.Fatalf("a part of the object is a delta of %d bytes against %v", len(found), b)
			}
			if base == nil {
				continue
			}
			repeated++
			if result, err := delta.Apply(contents[base], d, 1<<30); err != nil || !bytes.Equal(result, content) {
				t.Fatalf("the delta has another result, %v", err)
			}
			if len(d) > len(content)-len(snapshot)+len(content)/50 {
				t.Fatalf("a delta of %d bytes for %d", len(d), len(content))
			}
		}
		if repeated == 0 {
			t.Fatal("no object became a delta")
		}
	})
}
