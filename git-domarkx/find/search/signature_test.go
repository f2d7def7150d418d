package search_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// FuzzSignature checks that a text may have each part of it, in any case.
func FuzzSignature(f *testing.F) {
	f.Add([]byte("The Größe of a Text, 限制"), 3, 9)
	f.Fuzz(func(t *testing.T, text []byte, from, to int) {
		if from < 0 || to < from || to > len(text) {
			return
		}
		mayHave := search.Signature(text)
		for _, other := range []byte{0, 'a' - 'A'} {
			part := bytes.Clone(text[from:to])
			for i, c := range part {
				if c|0x20 >= 'a' && c|0x20 <= 'z' {
					part[i] ^= other
				}
			}
			if !mayHave(part) {
				t.Fatalf("%q cannot have %q", text, part)
			}
		}
	})
}

// TestSignature checks that texts of all sizes have their parts, and seldom others.
func TestSignature(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 8))
	for _, size := range []int{0, 1, 2, 3, 7, 8, 9, 100, 16 << 10, 100 << 10, 8 << 20} {
		text := make([]byte, size)
		const letters = "etaoinshrdluETAOIN     _.,0123"
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		mayHave, wrong := search.Signature(text), 0
		for range 500 {
			from := random.IntN(size + 1)
			part := text[from:min(size, from+random.IntN(30))]
			if !mayHave(part) {
				t.Fatalf("a text of %d bytes cannot have its part %q", size, part)
			}
			if mayHave([]byte("absent word (x)")) {
				wrong++
			}
		}
		if wrong > 0 && size < 1<<20 {
			t.Errorf("a text of %d bytes may have what is not in it", size)
		}
	}
}

func BenchmarkSignature(b *testing.B) {
	text := bytes.Repeat([]byte("func sign(text []byte) signature { some words more } "), 300)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		search.Sign(text)
	}
}
