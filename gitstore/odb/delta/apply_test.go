package delta_test

import (
	"bytes"
	"errors"
	"runtime"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/delta"
)

// expected reports whether an error is one that Apply documents.
func expected(err error) bool {
	return errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrUnsupported)
}

// allocated returns the number of bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestApply(t *testing.T) {
	base := []byte("0123456789")
	tests := []struct {
		name  string
		delta []byte
		want  string // "" is an error
	}{
		{"insert", []byte{10, 3, 3, 'a', 'b', 'c'}, "abc"},
		{"copy", []byte{10, 4, 0x91, 2, 4}, "2345"},
		{"both", []byte{10, 5, 0x90, 4, 1, 'x'}, "0123x"},
		{"other base", []byte{9, 3, 3, 'a', 'b', 'c'}, ""},
		{"instruction 0", []byte{10, 3, 0}, ""},
		{"too little", []byte{10, 4, 3, 'a', 'b', 'c'}, ""},
		{"too much", []byte{10, 2, 3, 'a', 'b', 'c'}, ""},
		{"cut insert", []byte{10, 3, 3, 'a'}, ""},
		{"cut copy", []byte{10, 3, 0x91}, ""},
		{"behind the end", []byte{10, 4, 0x91, 8, 4}, ""},
		{"default length behind the end", []byte{10, 0x80, 0x80, 4, 0x80}, ""},
		{"no sizes", nil, ""},
		{"endless size", bytes.Repeat([]byte{0xff}, 20), ""},
		{"huge result", []byte{10, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x90, 4}, ""},
		{"lying result", []byte{10, 0x80, 0x80, 0x80, 0x40, 0x90, 4}, ""},
	}
	for _, test := range tests {
		var got []byte
		var err error
		size := allocated(func() { got, err = delta.Apply(base, test.delta, 256<<20) })
		if string(got) != test.want || (err == nil) != (test.want != "") || err != nil && !expected(err) {
			t.Errorf("%s: %q, %v", test.name, got, err)
		}
		if size > 16<<20 {
			t.Errorf("%s: takes %d bytes of memory", test.name, size)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("0123456789"), []byte{10, 5, 0x90, 4, 1, 'x'})
	f.Fuzz(func(t *testing.T, base, d []byte) {
		if _, err := delta.Apply(base, d, 256<<20); err != nil && !expected(err) {
			t.Error(err)
		}
	})
}
