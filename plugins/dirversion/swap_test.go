//go:build linux

package dirversion_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// saves are the ways in which programs save a file.
var saves = map[string]func(path, content string) error{
	"in place": func(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) },
	"in place, slowly": func(path, content string) error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		for _, part := range []string{content[:10], content[10:]} {
			time.Sleep(time.Millisecond)
			if _, werr := f.WriteString(part); err == nil {
				err = werr
			}
		}
		return errors.Join(err, f.Close())
	},
	"without truncating": func(path, content string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		_, err = f.WriteString(content)
		return errors.Join(err, f.Close())
	},
	"by renaming": func(path, content string) error {
		return errors.Join(os.WriteFile(path+".tmp", []byte(content), 0o644), os.Rename(path+".tmp", path))
	},
	"by removing": func(path, content string) error {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		return os.WriteFile(path, []byte(content), 0o644)
	},
}

// TestObserveLoadBeside loads versions while other programs save files of the same size in all ways. What was saved last
// is in place, or in the version that was taken before.
func TestObserveLoadBeside(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 5
	}
	for style, save := range saves {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, plain %t", style, plain), func(t *testing.T) {
				p := observed(t, nil)
				p.write("kept", "k")
				without := p.commit()
				names := []string{"a", "b", "dir/c", "dir/d"}
				content := func(name string, n int) string { return fmt.Sprintf("%-40s\n", fmt.Sprint(name, " ", n)) }
				for _, name := range names {
					p.write(name, content(name, -1))
				}
				with := p.commit()
				writes := 0
				var failed atomic.Int64
				for round := range rounds {
					before := with
					if round%2 == 1 {
						before = without // in which the files are not
					}
					for _, name := range names {
						p.write(name, content(name, 0))
					}
					last := make([]int, len(names))
					stop := make(chan struct{})
					var writers sync.WaitGroup
					for i, name := range names {
						writers.Go(func() {
							for n := 1; ; n++ {
								select {
								case <-stop:
									return
								case <-time.After(time.Duration(n*i%7) * time.Millisecond / 2):
								}
								path := filepath.Join(p.path, name)
								err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), save(path, content(name, n)))
								if err != nil { // its directory was removed, or its temporary file
									failed.Add(1)
									n--
									continue
								}
								last[i] = n
							}
						})
					}
					version := p.commit()
					if plain {
						p.f.SetPlain()
					}
					err := p.f.Load(t.Context(), p.m, before)
					var changed *dirversion.ChangedError
					if err != nil && !errors.As(err, &changed) {
						t.Error(err)
					}
					close(stop)
					writers.Wait()
					stored := p.contents(version)
					for i, name := range names {
						writes += last[i]
						want := content(name, last[i])
						if got, _ := os.ReadFile(filepath.Join(p.path, name)); string(got) != want && stored[name] != want {
							t.Errorf("round %d: %s was saved as %q, but is %q, and in the version %q; %v; %q", round, name, want, got, stored[name], err, p.warned)
						}
					}
				}
				if files := scratchFiles(t, p.path); len(files) > 0 {
					t.Errorf("the directory has %q", files)
				}
				t.Logf("%d writes, %d failed; warned: %q", writes, failed.Load(), p.warned)
			})
		}
	}
}

// contents returns the contents of the regular files in a version.
func (p *place) contents(version string) map[string]string {
	p.t.Helper()
	found := map[string]string{}
	var walk func(id, at string)
	walk = func(id, at string) {
		files, err := p.m.Directory(p.t.Context(), id)
		must(p.t, err)
		for _, f := range files {
			switch f.Type {
			case domarkx.Directory:
				walk(f.ID, at+f.Name+"/")
			case domarkx.Regular:
				c, err := p.m.Content(p.t.Context(), f.ID)
				must(p.t, err)
				data := make([]byte, c.Size())
				_, _ = c.ReadAt(data, 0)
				must(p.t, c.Close())
				found[at+f.Name] = string(data)
			}
		}
	}
	top, err := p.m.Top(p.t.Context(), version)
	must(p.t, err)
	walk(top.ID, "")
	return found
}

// scratchFiles returns the temporary files below a directory.
func scratchFiles(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	must(t, filepath.WalkDir(path, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".domarkx-") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

// TestObserveLoadElsewhere loads a version where the directory for temporary files is on another file
// system: another one, which ignores itself, is in the directory meanwhile.
func TestObserveLoadElsewhere(t *testing.T) {
	aside, err := os.MkdirTemp("/dev/shm", "aside")
	if err != nil {
		t.Skip("there is no /dev/shm")
	}
	t.Cleanup(func() { os.RemoveAll(aside) })
	p := &place{t: t, path: t.TempDir(), cache: filepath.Join(t.TempDir(), "stat"), m: plugintest.NewMemory()}
	var here, there syscall.Stat_t
	must(t, errors.Join(syscall.Stat(p.path, &here), syscall.Stat(aside, &there)))
	if here.Dev == there.Dev {
		aside = "/tmp/" + filepath.Base(aside) // short tests work in /dev/shm
		t.Cleanup(func() { os.RemoveAll(aside) })
	}
	open := func() {
		if p.f != nil {
			must(t, p.f.Close())
		}
		p.f, err = dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Observe: &dirversion.Observe{Aside: aside}})
		must(t, err)
	}
	open()
	p.write("a", "one")
	p.write("dir/b", "one")
	before := p.commit()
	p.write("a", "two!")
	must(t, os.RemoveAll(filepath.Join(p.path, "dir")))
	p.write("new", "two")
	p.commit()
	must(t, p.f.Load(t.Context(), p.m, before))
	if got := p.commit(); got != before || len(scratchFiles(t, p.path)) > 0 {
		t.Errorf("the directory has %q and %q", p.files(got), scratchFiles(t, p.path))
	}
	// A kill left a file that another program had saved, and one that was not in place yet.
	p.write(".domarkx-left/.gitignore", "*\n")
	p.write(".domarkx-left/.domarkx-saved", "saved")
	p.write(".domarkx-left/.domarkx-new", "new")
	p.write(".domarkx-mine", "a file of the user")
	journal := `{"in":".domarkx-left"}` + "\n" + `{"scratch":".domarkx-saved","path":"dir/b","was":{"kind":1,"mode":420,"inode":1,"size":5,"time":1}}` + "\n" + `{"scr`
	must(t, os.Remove(filepath.Join(p.path, "dir/b")))
	must(t, os.WriteFile(filepath.Join(aside, "journal"), []byte(journal), 0o600))
	open()
	if data, err := os.ReadFile(filepath.Join(p.path, "dir/b")); string(data) != "saved" || err != nil {
		t.Errorf("what was saved is %q, %v", data, err)
	}
	if files := scratchFiles(t, p.path); len(files) != 1 || filepath.Base(files[0]) != ".domarkx-mine" {
		t.Errorf("the directory has %q", files)
	}
	must(t, p.f.Close())
}

// TestRecover completes a load that was killed after it exchanged a file that another program had saved.
func TestRecover(t *testing.T) {
	for name, plain := range map[string]bool{"exchange": false, "a file system that cannot exchange files": true} {
		t.Run(name, func(t *testing.T) {
			p := &place{t: t, path: t.TempDir(), cache: filepath.Join(t.TempDir(), "stat"), m: plugintest.NewMemory()}
			aside := p.cache + ".aside"
			must(t, os.Mkdir(aside, 0o700))
			f, err := dirversion.Open(dirversion.Config{Path: p.path, Observe: &dirversion.Observe{Aside: aside}})
			must(t, err)
			defer f.Close()
			if plain {
				f.SetPlain()
			}
			p.write("a", "of the load")
			must(t, os.WriteFile(filepath.Join(aside, ".domarkx-out"), []byte("saved"), 0o644))
			var ours syscall.Stat_t
			must(t, syscall.Stat(filepath.Join(p.path, "a"), &ours))
			journal := fmt.Sprintf(`{"scratch":".domarkx-out","path":"a","ours":{"kind":1,"mode":%d,"inode":%d,"size":%d,"time":%d},"was":{"kind":1,"mode":420,"inode":1,"size":5,"time":1}}`,
				ours.Mode&0o777, ours.Ino, ours.Size, ours.Mtim.Nano())
			must(t, os.WriteFile(filepath.Join(aside, "journal"), []byte(journal+"\n"), 0o600))
			must(t, f.Recover(t.Context()))
			if data, err := os.ReadFile(filepath.Join(p.path, "a")); string(data) != "saved" || err != nil {
				t.Errorf("the file is %q, %v", data, err)
			}
			if left, err := os.ReadDir(aside); len(left) > 0 || err != nil {
				t.Errorf("%v is left, %v", left, err)
			}
		})
	}
}
