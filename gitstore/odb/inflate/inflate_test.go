package inflate_test

import (
	"bytes"
	stdzlib "compress/zlib"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb/inflate"
)

// samples returns data that compresses in different ways.
func samples(r *rand.Rand) map[string][]byte {
	random := make([]byte, 200_000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	var text, skewed, steps []byte
	words := []string{"the ", "quick ", "function ", "returns ", "error\n", "nil ", "context "}
	for len(text) < 300_000 {
		text = append(text, words[r.IntN(len(words))]...)
	}
	for len(skewed) < 300_000 { // yields long codes
		n := 0
		for n < 250 && r.IntN(2) == 0 {
			n++
		}
		skewed = append(skewed, byte(n), byte(r.ExpFloat64()*20))
	}
	for d := 1; d < 300; d++ { // yields all short distances and some long ones
		steps = append(steps, bytes.Repeat(random[d:2*d], 1+600/d)...)
		steps = append(steps, random[:d%50]...)
	}
	return map[string][]byte{"": nil, "one byte": {7}, "random": random, "text": text, "skewed": skewed, "steps": steps, "zeros": make([]byte, 100_000), "mixed": append(append(append([]byte{}, text[:70_000]...), random[:90_000]...), skewed[:5000]...)}
}

func compress(t testing.TB, level int, content []byte) []byte {
	var b bytes.Buffer
	w, err := stdzlib.NewWriterLevel(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, content := range samples(r) {
		for level := stdzlib.HuffmanOnly; level <= stdzlib.BestCompression; level++ {
			if testing.Short() && level > stdzlib.BestSpeed && level < stdzlib.BestCompression {
				continue // they take most of the time, and make the same kinds of blocks
			}
			for _, part := range [][]byte{content, content[:len(content)/3], content[:min(len(content), 300)]} {
				packed := compress(t, level, part)
				for _, behind := range []int{0, 1, 15, 1000} {
					src := append(bytes.Clone(packed), make([]byte, behind)...)
					dst := make([]byte, len(part))
					if n, err := inflate.Decode(dst, src); err != nil || n != len(packed) || !bytes.Equal(dst, part) {
						t.Fatalf("%s, %d bytes at level %d, followed by %d bytes: length %d of %d, %v", name, len(part), level, behind, n, len(packed), err)
					}
				}
				for _, n := range []int{len(part) - 1, len(part) + 1, len(part)/2 - 1, len(part) * 2} {
					if n < 0 || n == len(part) {
						continue
					}
					if err := decode(make([]byte, n), packed); err == nil {
						t.Errorf("%s at level %d: %d bytes decoded as %d without an error: %v", name, level, len(part), n, err)
					}
				}
			}
		}
	}
}

func TestDecodeTruncated(t *testing.T) {
	for name, content := range samples(rand.New(rand.NewPCG(3, 4))) {
		content = content[:min(len(content), 3000)]
		for _, level := range []int{0, 1, 9} {
			packed := compress(t, level, content)
			for n := range packed {
				if err := decode(make([]byte, len(content)), packed[:n:n]); err == nil {
					t.Fatalf("%s at level %d, %d of %d bytes: %v", name, level, n, len(packed), err)
				}
			}
		}
	}
}

// FuzzDecode compares with the standard library: both accept the same streams and return
// the same data.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	all := samples(r)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		content := all[name]
		content = content[:min(len(content), 2000)]
		for _, level := range []int{-2, 0, 1, 9} {
			packed := compress(f, level, content)
			f.Add(packed, len(content))
			for range 4 {
				broken := bytes.Clone(packed)
				broken[r.IntN(len(broken))] ^= 1 << r.IntN(8)
				f.Add(broken, len(content))
			}
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte, size int) {
		if size < 0 || size > 1<<20 {
			return
		}
		dst := make([]byte, size)
		err := decode(dst, packed)
		want, theirs := read(packed, size)
		if (err == nil) != (theirs == nil) || err == nil && !bytes.Equal(dst, want) {
			t.Errorf("error %v, expected %v", err, theirs)
		}
	})
}

// read decompresses with the standard library and ignores the checksum.
func read(packed []byte, size int) ([]byte, error) {
	src := bytes.NewReader(packed)
	z, err := stdzlib.NewReader(src)
	if err != nil {
		return nil, err
	}
	data := make([]byte, size+1)
	n := 0
	for n < len(data) && err == nil {
		var m int
		m, err = z.Read(data[n:])
		n += m
	}
	if n != size || err != io.EOF && !errors.Is(err, stdzlib.ErrChecksum) {
		return nil, fmt.Errorf("%d bytes, %v", n, err)
	}
	return data[:n], nil
}

// decode calls [inflate.Decode] and checks the length that it returns.
func decode(dst, src []byte) error {
	n, err := inflate.Decode(dst, src)
	if err == nil && (n < 8 || n > len(src)) {
		return fmt.Errorf("the stream has %d of %d bytes", n, len(src))
	}
	return err
}
