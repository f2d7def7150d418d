package dirversion_test

import (
	"testing"

	"github.com/domarkx/domarkx/plugins/dirversion"
)

func FuzzRecords(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{1, 1, 'a', 1, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{1, 1, 'l', 3, 0, 0, 0, 0, 1, 1, 'x'})
	f.Add([]byte{1, 1, 'x', 0x42, 0, 0, 0, 0, 1, 1, 'n', 1, 'v'})
	f.Fuzz(func(t *testing.T, b []byte) {
		if again, ok := dirversion.DecodeAgain(b); ok && !again {
			t.Error("what was decoded cannot be encoded")
		}
	})
}
