package delta_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb/delta"
)

// TestSamples checks that a text has the same samples wherever it stands, except for those that depend on the 32 bytes
// before it.
func TestSamples(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	alone := delta.AppendSamples(nil, text[32:])
	if len(alone) < 64 || len(alone) > 256 {
		t.Fatalf("%d samples in 64 KiB, expected about 128", len(alone))
	}
	for before := range 33 {
		within := delta.AppendSamples([]uint32{7}, text[32-before:])
		if within[0] != 7 || len(within)-1 < len(alone)-2 || !slices.Equal(within[len(within)-len(alone)+2:], alone[2:]) {
			t.Errorf("%d bytes before the text: other samples", before)
		}
	}
}
