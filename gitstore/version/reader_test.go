package version_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// mixed returns content that is partly compressible.
func mixed(n int) string {
	data := make([]byte, n/2)
	rand.NewChaCha8([32]byte{byte(n)}).Read(data)
	return (string(data) + strings.Repeat("the same again\n", n/30+1))[:n]
}

// TestContentIsReadInAnyWay reads content of all sizes at once, in parts, and concurrently.
func TestContentIsReadInAnyWay(t *testing.T) {
	s, dir := newStore(t)
	for _, packed := range []bool{false, true} {
		for _, size := range []int{0, 1, 300, 5000, 5 << 20, 17 << 20} {
			if testing.Short() && packed && size > 1<<20 {
				continue // git takes seconds to pack it
			}
			want := mixed(size)
			version := writeVersion(t, s, "", top(), regular("f", want))
			if packed {
				git(t, dir, "update-ref", "refs/x", git(t, dir, "commit-tree", "-m", "x", version))
				git(t, dir, "repack", "-adfq")
			}
			f := readVersion(t, s, version)[1]
			c, err := s.Content(context.Background(), f.ID)
			if err != nil {
				t.Fatal(err)
			}
			if c.Size() != int64(size) {
				t.Errorf("%d bytes: size %d", size, c.Size())
			}
			var readers sync.WaitGroup
			for i := range 4 {
				readers.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 1))
					times := 10
					if testing.Short() {
						times = 4
					}
					for k := range times {
						at, n := r.IntN(size+2), r.IntN(size+300)
						if k == i { // all at once
							at, n = 0, size+r.IntN(2)*300
						}
						p := make([]byte, n)
						left := want[min(at, size):]
						got, err := c.ReadAt(p, int64(at))
						if string(p[:got]) != left[:min(n, len(left))] || (err == io.EOF) != (n > len(left)) || err != nil && err != io.EOF {
							t.Errorf("%d bytes, %d at %d: %d, %v", size, n, at, got, err)
						}
					}
				})
			}
			readers.Wait()
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDecayOfContentIsNoticed flips random bits of a pack. Reading must return the right content or
// an error.
func TestDecayOfContentIsNoticed(t *testing.T) {
	s, dir := newStore(t)
	want := mixed(40_000)
	version := writeVersion(t, s, "", top(), regular("f", want))
	id := readVersion(t, s, version)[1].ID
	git(t, dir, "update-ref", "refs/x", git(t, dir, "commit-tree", "-m", "x", version))
	git(t, dir, "repack", "-adfq")
	packs, err := filepath.Glob(filepath.Join(dir, "objects/pack/*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %q, %v", packs, err)
	}
	if err := os.Chmod(packs[0], 0o600); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(packs[0])
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	noticed := 0
	for range 100 {
		pack := bytes.Clone(sound)
		at := r.IntN(len(pack))
		pack[at] ^= 1 << r.IntN(8)
		if err := os.WriteFile(packs[0], pack, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, span := range [][2]int{{0, len(want)}, {1, 100}} {
			c, err := open(t, dir).Content(context.Background(), id)
			if err != nil {
				noticed++
				continue
			}
			p := make([]byte, span[1])
			switch _, err := c.ReadAt(p, int64(span[0])); {
			case err != nil && !errors.Is(err, domarkx.ErrCorrupt):
				t.Errorf("byte %d: %v", at, err)
			case err != nil:
				noticed++
			case string(p) != want[span[0]:span[0]+span[1]]:
				t.Errorf("byte %d is damaged: other content", at)
			}
		}
	}
	if noticed < 150 {
		t.Errorf("%d of 200 readings noticed it", noticed)
	}
}
