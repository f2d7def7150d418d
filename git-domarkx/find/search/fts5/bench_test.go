package fts5_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// BenchmarkWriter adds rows of about 850 bytes, whose words have frequencies as those of a language do.
func BenchmarkWriter(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, 200000)
	rows, size := make([][]byte, 20000), 0
	for i := range rows {
		var text strings.Builder
		for range 110 {
			fmt.Fprintf(&text, "word%x ", zipf.Uint64())
		}
		rows[i] = []byte(text.String())
		size += len(rows[i])
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		x := newIndex(b)
		x.exec("BEGIN")
		b.StartTimer()
		x.add(1, rows)
		x.exec("COMMIT")
	}
}
