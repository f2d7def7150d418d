package odb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// sweep removes, without pause until stop is called, the files that `git prune --expire=now` removes:
// temporary files and empty fan-out directories. It also removes files there that begin with prefix.
func sweep(dir, prefix string, fanOuts ...string) (stop func()) {
	done := make(chan struct{})
	var sweepers sync.WaitGroup
	objects := filepath.Join(dir, "objects")
	for _, pass := range []func(){
		func() {
			for _, fanOut := range fanOuts {
				removeAll(filepath.Join(objects, fanOut), prefix)
				os.Remove(filepath.Join(objects, fanOut)) // an empty one
			}
		},
		func() {
			removeAll(objects, "tmp_")
			removeAll(filepath.Join(objects, "pack"), "tmp_")
		},
	} {
		sweepers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					pass()
				}
			}
		})
	}
	return func() { close(done); sweepers.Wait() }
}

func removeAll(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// TestWritersMeetSweeping checks that objects are stored while another process prunes without pause.
func TestWritersMeetSweeping(t *testing.T) {
	dir := bare(t)
	d := open(t, dir)
	var fanOuts []string
	for i := range 256 {
		fanOuts = append(fanOuts, fmt.Sprintf("%02x", i))
	}
	stop := sweep(dir, "tmp_", fanOuts...)
	defer stop()
	var writers sync.WaitGroup
	for w := range 2 {
		writers.Go(func() {
			for i := range 20 {
				// Some are new, others exist already.
				salt := fmt.Sprint(w, " ", i/2)
				tip, err := write(d, dir, fmt.Sprintf("refs/heads/w%d", w), []int{2, 12, 100, 100}[i%4], salt)
				if err != nil {
					t.Errorf("batch %d of writer %d: %v", i, w, err)
					return
				}
				if _, err := d.Commit(tip); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if t.Failed() {
		return
	}
	git(t, dir, "fsck", "--strict", "--full")
	must(t, d.ReleaseKeeps())
	noKeeps(t, dir)
}
