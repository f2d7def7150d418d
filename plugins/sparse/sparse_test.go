//go:build linux

package sparse_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/domarkx/domarkx/plugins/sparse"
	"pgregory.net/rapid"
)

// TestReader compares with what an ordinary read returns, for any places of data.
func TestReader(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		f, err := os.Create(filepath.Join(dir, "f"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for range rapid.IntRange(0, 5).Draw(t, "writes") {
			if _, err := f.WriteAt(bytes.Repeat([]byte("x"), rapid.IntRange(1, 20000).Draw(t, "length")), rapid.Int64Range(0, 1<<20).Draw(t, "at")); err != nil {
				t.Fatal(err)
			}
		}
		size := rapid.Int64Range(0, 1<<20).Draw(t, "size")
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		most := rapid.Int64Range(0, 1<<20+10).Draw(t, "most")
		want, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(sparse.Reader(int(f.Fd()), most))
		if want = want[:min(most, size)]; err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read %d bytes of %d, %v", len(got), len(want), err)
		}
	})
}

// TestReaderOfHole reads the end of a hole of 1 TB at once, so that it does not read the file, and sees that it grows.
func TestReaderOfHole(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, 5000)
	for i := range data {
		data[i] = byte(rand.Uint32() | 1)
	}
	if _, err := f.WriteAt(data, 64<<20); err != nil {
		t.Fatal(err)
	}
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	got, err := io.ReadAll(sparse.Reader(int(f.Fd()), 1<<40))
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	if err != nil || len(got) != 64<<20+len(data) || !bytes.Equal(got[64<<20:], data) || len(bytes.Trim(got[:64<<20], "\x00")) > 0 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	r := sparse.Reader(int(f.Fd()), int64(len(got))+1)
	if n, err := io.CopyN(io.Discard, r, int64(len(got))); err != nil {
		t.Fatal(n, err)
	}
	if _, err := f.Write([]byte("!")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("!"), int64(len(got))); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(iotest.OneByteReader(r)); err != nil || string(rest) != "!" {
		t.Errorf("after growing: %q, %v", rest, err)
	}
}
