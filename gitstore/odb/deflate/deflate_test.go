package deflate_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	klauspost "github.com/klauspost/compress/zlib"

	"github.com/domarkx/domarkx/gitstore/odb/deflate"
)

// check compresses data behind other bytes, and compares what the standard library reads.
func check(t *testing.T, data []byte) []byte {
	t.Helper()
	const before = "what is there"
	packed, ok := bytes.CutPrefix(deflate.Append([]byte(before), data), []byte(before))
	if !ok {
		t.Fatal("the bytes before changed")
	}
	if len(packed) > len(data)+len(data)/8+8 {
		t.Errorf("%d bytes became %d", len(data), len(packed))
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes became %d others, %v", len(data), len(got), err)
	}
	return packed
}

func TestAppend(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	random := make([]byte, deflate.MaxSize)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for n := range 300 { // all lengths and symbols
		check(t, random[:n])
		check(t, bytes.Repeat([]byte{'a'}, n))
		check(t, append(bytes.Clone(random[:n]), random[:n]...))
	}
	for distance := 1; distance <= deflate.MaxSize-minMatch; distance += 1 + distance/7 {
		check(t, append(bytes.Repeat([]byte{'x'}, distance), random[:min(20, deflate.MaxSize-distance)]...))
		check(t, append(bytes.Clone(random[:distance]), random[:min(20, deflate.MaxSize-distance)]...))
	}
	check(t, random)
	check(t, make([]byte, deflate.MaxSize))
	text := []byte(strings.Repeat(`"role": "assistant", "content": [{"type": "text", "value": "the file"}]`, 20))
	if n := len(check(t, text)); n > len(text)/8 {
		t.Errorf("%d bytes of text became %d", len(text), n)
	}
}

const minMatch = 4

func FuzzAppend(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("abcdabcdabcdabcd"))
	f.Add(bytes.Repeat([]byte("0123456789"), 60))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data[:min(len(data), deflate.MaxSize)]) })
}

// BenchmarkAppend compresses data like the deltas of messages: some new text, and many copies.
func BenchmarkAppend(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the a file test of to in and build error line function value read write message session")
	var data []byte
	for len(data) < 1100 {
		data = fmt.Appendf(data, "%s %d ", words[r.IntN(len(words))], r.IntN(1000))
		data = append(data, 0x93, byte(r.Uint32()), byte(r.Uint32()), byte(r.IntN(60)))
	}
	b.Run("fixed codes", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		var out []byte
		for b.Loop() {
			out = deflate.Append(out[:0], data)
		}
		b.ReportMetric(float64(len(out)), "bytes")
	})
	b.Run("klauspost", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		var out bytes.Buffer
		w, _ := klauspost.NewWriterLevel(&out, klauspost.BestSpeed)
		for b.Loop() {
			out.Reset()
			w.Reset(&out)
			w.Write(data)
			w.Close()
		}
		b.ReportMetric(float64(out.Len()), "bytes")
	})
}
