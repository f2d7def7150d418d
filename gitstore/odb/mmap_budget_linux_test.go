package odb_test

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// TestBoundMemory reads a whole pack in several goroutines and measures the resident memory of its
// mapping.
func TestBoundMemory(t *testing.T) {
	dir := bare(t)
	d, err := odb.Open(dir+"/objects", oid.SHA1)
	must(t, err)
	readers := 4
	if testing.Short() {
		readers = 2
	}
	noise := rand.NewChaCha8([32]byte{1})
	b := d.Begin()
	content := map[odb.ID][]byte{}
	for range 300 {
		data := make([]byte, 100<<10)
		noise.Read(data)
		id, err := b.Add(odb.Blob, data)
		must(t, err)
		content[id] = data
	}
	must(t, b.Sync())
	must(t, b.Settle())
	must(t, d.Close())
	for bound, least := range map[int64]int64{0: 25 << 20, 4 << 20: 1} {
		d, err := odb.Open(dir+"/objects", oid.SHA1)
		must(t, err)
		if bound > 0 {
			d.BoundMemory(bound)
		}
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				for id, want := range content {
					if _, got, err := d.Read(id); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: %d bytes, %v", id, len(got), err)
					}
				}
			})
		}
		all.Wait()
		// The limit is enforced from time to time; some readers may exceed it in between.
		if got := packResident(t, dir); got < least || bound > 0 && got > 5*bound {
			t.Errorf("bound %d: %d bytes of packs are in memory", bound, got)
		}
		must(t, d.Close())
	}
}

// packResident returns the resident bytes of the mapped packs of a repository (proc(5), smaps).
func packResident(t *testing.T, dir string) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	var sum int64
	inside := false
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		if line := s.Text(); strings.Contains(line, "/") {
			inside = strings.Contains(line, dir) && strings.HasSuffix(line, ".pack")
		} else if rest, ok := strings.CutPrefix(line, "Rss:"); ok && inside {
			n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			must(t, err)
			sum += n << 10
		}
	}
	return sum
}
