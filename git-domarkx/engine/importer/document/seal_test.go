package document_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
)

// TestSeal checks that a seal is that of a document, however it is read, and of no other one.
func TestSeal(t *testing.T) {
	const chunk = 32 << 10
	whole := make([]byte, 3*chunk+100)
	rand.NewChaCha8([32]byte{1}).Read(whole)
	key := []byte("0123456789abcdef")
	seal := func(key []byte, parts ...[]byte) [32]byte {
		t.Helper()
		sum, err := document.SealOf(key, parts...)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	want := seal(key, whole)
	for _, size := range []int{1000, chunk - 1, chunk, chunk + 1, 2 * chunk} {
		if seal(key, slices.Collect(slices.Chunk(whole, size))...) != want {
			t.Errorf("in parts of %d bytes it has another seal", size)
		}
	}
	others := map[string][]byte{
		"shorter":         whole[:len(whole)-1],
		"longer":          append(slices.Clone(whole), 0),
		"whole chunks":    whole[:3*chunk],
		"swapped chunks":  slices.Concat(whole[chunk:2*chunk], whole[:chunk], whole[2*chunk:]),
		"repeated chunks": slices.Concat(whole[:chunk], whole[:chunk], whole[2*chunk:]),
		"nothing":         nil,
	}
	for _, at := range []int{0, 1, chunk - 1, chunk, 2*chunk + 5, 3 * chunk, len(whole) - 1} {
		changed := slices.Clone(whole)
		changed[at] ^= 1
		others[fmt.Sprint("changed at ", at)] = changed
	}
	for name, other := range others {
		if seal(key, other) == want {
			t.Errorf("%s: the same seal", name)
		}
	}
	if seal([]byte("0123456789abcdeF"), whole) == want {
		t.Error("another key gives the same seal")
	}
}
