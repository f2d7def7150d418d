package original_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

func FuzzDecodeDocument(f *testing.F) {
	f.Add([]byte("format zeus\nsize 3\nsegments 1\nsha256 ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := original.DecodeDocument(data)
		if err != nil {
			if !errors.Is(err, domarkx.ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if again := o.Encode(); !bytes.Equal(again, data) {
			t.Errorf("%q became %q", data, again)
		}
	})
}
