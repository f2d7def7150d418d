package chunked_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

func TestPointer(t *testing.T) {
	p := chunked.Pointer{Size: 17 << 20, Chunks: oid.FromBytes([]byte{1, 2, 19: 0})}
	p.SHA256[3] = 9
	text := string(p.Encode())
	if got, err := chunked.DecodePointer(oid.SHA1, []byte(text)); err != nil || got != p {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{
		"", text + "\n", text[:len(text)-1], " " + text, strings.ToUpper(text),
		strings.Replace(text, "size ", "size 0", 1), strings.Replace(text, "size ", "size -", 1), strings.Replace(text, "size ", "size +", 1),
		strings.Replace(text, "large 1", "large 2", 1), strings.ReplaceAll(text, "\n", "\r\n"), strings.Replace(text, "size ", "", 1),
	} {
		if chunked.IsPointer(oid.SHA1, []byte(bad)) {
			t.Errorf("%q is taken for a pointer", bad)
		}
	}
}

func FuzzDecodePointer(f *testing.F) {
	f.Add(chunked.Pointer{Size: 1 << 30, Chunks: oid.FromBytes([]byte{1, 19: 0})}.Encode())
	f.Add([]byte("domarkx-large 1\nsize 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := chunked.DecodePointer(oid.SHA1, data); err == nil && !bytes.Equal(p.Encode(), data) {
			t.Errorf("%q has another encoding, %q", data, p.Encode())
		}
	})
}
