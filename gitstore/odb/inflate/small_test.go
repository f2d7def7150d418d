package inflate_test

import (
	stdzlib "compress/zlib"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb/inflate"
)

// BenchmarkSmall decodes messages of about 900 bytes, for which much of the time goes to the tables of codes.
func BenchmarkSmall(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 200000)
	packed, sizes, total := make([][]byte, 1000), make([]int, 1000), 0
	for i := range packed {
		var text strings.Builder
		for range 110 {
			fmt.Fprintf(&text, " word%x", zipf.Uint64())
		}
		packed[i], sizes[i] = compress(b, stdzlib.DefaultCompression, []byte(text.String())), text.Len()
		total += text.Len()
	}
	dst := make([]byte, 4096)
	b.SetBytes(int64(total))
	for b.Loop() {
		for i, p := range packed {
			if _, err := inflate.Decode(dst[:sizes[i]], p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
