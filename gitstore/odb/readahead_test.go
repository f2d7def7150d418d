//go:build unix

package odb_test

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

const aheadMost = 8 << 20

// packedLarge returns a repository with one pack of large content.
func packedLarge(t *testing.T, size int) (dir string, pointer, chunks odb.ID, data []byte) {
	t.Helper()
	dir = bare(t)
	data = noise(7, size)
	d := open(t, dir)
	b := d.Begin()
	pointer, chunks, _, err := chunked.Add(b, bytes.NewReader(data))
	must(t, err)
	must(t, b.Sync())
	must(t, b.Settle())
	must(t, d.Close())
	return dir, pointer, chunks, data
}

// TestReadAhead reads a part of large content in different orders. Reading sequentially, alone or
// with others, must read ahead, but not all of the content; jumping must not.
func TestReadAhead(t *testing.T) {
	const block, blocks = 256 << 10, 16
	dir, pointer, chunks, data := packedLarge(t, 32<<20)
	inOrder := make([]int64, blocks)
	for i := range inOrder {
		inOrder[i] = int64(i) * block
	}
	jumping := make([]int64, blocks)
	for i := range jumping {
		jumping[i] = int64(i%2*16<<20 + i/2*block)
	}
	for _, c := range []struct {
		name    string
		offsets []int64
		readers int
		ahead   bool
	}{
		{"in order", inOrder, 1, true},
		{"by several", inOrder, 4, true},
		{"too little", inOrder[:2], 1, false},
		{"jumping", jumping, 1, false},
	} {
		d := open(t, dir)
		l, _, err := chunked.Open(d, pointer, chunks)
		must(t, err)
		offsets := make(chan int64, len(c.offsets))
		for _, at := range c.offsets {
			offsets <- at
		}
		close(offsets)
		var all sync.WaitGroup
		for range c.readers {
			all.Go(func() {
				got := make([]byte, block)
				for at := range offsets {
					if _, err := l.ReadAt(got, at); err != nil || !bytes.Equal(got, data[at:at+block]) {
						t.Errorf("%s, at %d: other bytes, %v", c.name, at, err)
					}
				}
			})
		}
		all.Wait()
		to, size := odb.ReadAhead(d)
		switch read := c.offsets[len(c.offsets)-1] + block; {
		case !c.ahead && to != 0:
			t.Errorf("%s: read ahead up to %d", c.name, to)
		case c.ahead && (to < read+aheadMost/4 || to > read+2*aheadMost || to > size):
			t.Errorf("%s: read ahead up to %d of %d, where %d were read", c.name, to, size, read)
		}
		must(t, l.Close())
	}
}

// TestReadAheadEnds reads near the end of the content, and closes the database while reading ahead
// continues.
func TestReadAheadEnds(t *testing.T) {
	dir, pointer, chunks, data := packedLarge(t, 12<<20)
	for range 8 {
		d, err := odb.Open(dir, "", oid.SHA1)
		must(t, err)
		l, _, err := chunked.Open(d, pointer, chunks)
		must(t, err)
		for range 2 { // from the beginning again
			got := make([]byte, 4<<20)
			at := rand.Int64N(8 << 20)
			if _, err := l.ReadAt(got, at); err != nil || !bytes.Equal(got, data[at:at+int64(len(got))]) {
				t.Fatalf("at %d: other bytes, %v", at, err)
			}
		}
		must(t, l.Close())
		must(t, d.Close())
	}
}
