package odb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/gitstore/odb"
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

func TestPlaceAfterPrune(t *testing.T) {
	tests := map[string]func(t *testing.T, temp string){
		"temporary file": func(t *testing.T, temp string) { must(t, os.Remove(temp)) },
		"its directory":  func(t *testing.T, temp string) { must(t, os.RemoveAll(filepath.Dir(temp))) },
	}
	for name, prune := range tests {
		for _, there := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, %v", name, there), func(t *testing.T) {
				objects := t.TempDir()
				path := filepath.Join(objects, "aa", "name")
				f, err := odb.CreateTemp(objects, filepath.Join(objects, "aa", "tmp_obj_"), []byte("content"))
				must(t, err)
				prune(t, f.Temp())
				if there {
					if err := os.Mkdir(filepath.Dir(path), 0o777); !errors.Is(err, os.ErrExist) {
						must(t, err)
					}
					must(t, os.WriteFile(path, []byte("older"), 0o444))
				}
				must(t, f.Place(objects, path))
				entries, err := os.ReadDir(filepath.Dir(path))
				if err != nil || len(entries) != 1 {
					t.Errorf("the directory has %v, %v", entries, err)
				}
				info, err := os.Stat(path)
				if err != nil || info.Mode() != 0o444 {
					t.Errorf("mode %v, %v", info.Mode(), err)
				}
				if data, err := os.ReadFile(path); err != nil || string(data) != "content" {
					t.Errorf("%q, %v", data, err)
				}
				// A removed name can be given again.
				must(t, os.Remove(path))
				must(t, f.Place(objects, path))
				if data, err := os.ReadFile(path); err != nil || string(data) != "content" {
					t.Errorf("%q, %v", data, err)
				}
			})
		}
	}
}
