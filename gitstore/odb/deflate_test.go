package odb_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// checkDeflated compresses objects, and compares what other code unpacks of them.
func checkDeflated(t interface {
	Helper()
	Fatalf(string, ...any)
}, objects [][]byte,
) (size int) {
	t.Helper()
	for i, packed := range odb.DeflateSmall(objects) {
		r, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatalf("object %d: %v", i, err)
		}
		got, err := io.ReadAll(r)
		if err != nil || !bytes.Equal(got, objects[i]) {
			t.Fatalf("object %d of %d bytes is other content, %v", i, len(objects[i]), err)
		}
		ours := make([]byte, len(got), len(got)+odb.Slack)
		if err := odb.Unpack(ours, packed); err != nil || !bytes.Equal(ours, got) {
			t.Fatalf("object %d is other content to us, %v", i, err)
		}
		size += len(packed)
	}
	return size
}

// TestDeflateSmall: what is compressed is unpacked as it was.
func TestDeflateSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 1, 600),
			rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "the ", "\"role\": ", "\n      ", "é", "0", "ffffffffffffffff"}), 1, 200), func(s []string) []byte {
				joined := strings.Join(s, "")
				return []byte(joined[:min(len(joined), odb.MaxSmall)])
			}),
			rapid.Custom(func(t *rapid.T) []byte {
				return bytes.Repeat([]byte{rapid.Byte().Draw(t, "byte")}, rapid.IntRange(1, odb.MaxSmall).Draw(t, "size"))
			}),
			rapid.Custom(func(t *rapid.T) []byte {
				return noise(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, odb.MaxSmall).Draw(t, "size"))
			}))
		checkDeflated(t, rapid.SliceOfN(object, 1, 30).Draw(t, "objects"))
	})
}

// TestDeflateSmallIsSmall: many objects of rare and frequent bytes, whose codes would be too long,
// take about as much as with a code for each.
func TestDeflateSmallIsSmall(t *testing.T) {
	var objects [][]byte
	whole, theirs := 0, 0
	for i := range 100 {
		object := fmt.Appendf(nil, "{\n  \"role\": \"user\",\n  \"number\": %d,\n  \"text\": \"%x\"\n}\n%s", i, noise(uint64(i), 300), strings.Repeat("e", i))
		if i < 24 { // the n-th byte twice as often as the one before
			object = append(object, bytes.Repeat([]byte{byte(128 + i)}, min(1<<i, 2000))...)
		}
		objects = append(objects, object)
		whole += len(object)
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		w.Write(object)
		w.Close()
		theirs += b.Len()
	}
	if size := checkDeflated(t, objects); size > theirs*11/10 {
		t.Errorf("%d bytes take %d, expected about %d", whole, size, theirs)
	}
}

func FuzzDeflateSmall(f *testing.F) {
	f.Add([]byte("{\n  \"role\": \"user\"\n}\n"), []byte("aaaaaaaaaaaaaaaaaaaaaaaaa"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) == 0 || len(b) == 0 || len(a) > odb.MaxSmall || len(b) > odb.MaxSmall {
			return
		}
		checkDeflated(t, [][]byte{a, b, append(bytes.Clone(a[:len(a)/2]), b[:len(b)/2]...), a})
	})
}
