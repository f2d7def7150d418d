//go:build linux

package dirversion_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(p *place, path string) error
		says string
	}{
		{"mount", func(p *place, path string) error {
			if os.Geteuid() != 0 {
				return os.ErrPermission
			}
			if err := os.Mkdir(path, 0o755); err != nil {
				return err
			}
			p.t.Cleanup(func() { unix.Unmount(path, unix.MNT_DETACH) })
			return unix.Mount(p.t.TempDir(), path, "", unix.MS_BIND, "")
		}, `"d/it" is a mount point`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, plugintest.NewMemory())
			p.write("d/other", "x")
			if err := c.make(p, filepath.Join(p.path, "d/it")); errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EPERM) {
				t.Logf("cannot be made here: %v", err)
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := p.tryCommit(); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, expected %q", err, c.says)
			}
		})
	}
}

// writing is a store that writes to a file while it reads the file, a number of times.
type writing struct {
	domarkx.VersionWriter
	path  string
	times int
}

func (w *writing) Content(ctx context.Context, r io.Reader) (string, int64, error) {
	id, size, err := w.VersionWriter.Content(ctx, r)
	if w.times--; w.times >= 0 && err == nil {
		var f *os.File
		if f, err = os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			_, err = f.WriteString("more")
			err = errors.Join(err, f.Close())
		}
	}
	return id, size, err
}

func TestChangingFile(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("d/log", "x")
	try := func(times int) (string, error) {
		v, err := m.Begin(t.Context(), "")
		must(t, err)
		if err := p.f.Commit(t.Context(), &writing{v, filepath.Join(p.path, "d/log"), times}); err != nil {
			return "", err
		}
		return v.Finish(t.Context())
	}
	if _, err := try(1000); !errors.Is(err, domarkx.ErrConflict) || !strings.Contains(err.Error(), `"d/log"`) {
		t.Errorf("a file that keeps changing: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(p.path, "d/log"), []byte("x"), 0o644))
	version, err := try(2)
	must(t, err)
	if !strings.Contains(list(t, m, version), `"xmoremore"`) {
		t.Error(list(t, m, version))
	}
}

func TestForbidden(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("a/git/config", "x")
	p.write("a/other", "x")
	var warned []string
	link := filepath.Join(p.path, "link")
	must(t, os.Symlink(t.TempDir(), link))
	forbidden := []string{filepath.Join(p.path, "a/git"), filepath.Join(p.path, "new"), link}
	f, err := dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Forbidden: forbidden, Warn: func(m string) { warned = append(warned, m) }})
	must(t, err)
	defer f.Close()
	v, err := m.Begin(t.Context(), "")
	must(t, err)
	must(t, f.Commit(t.Context(), v))
	version, err := v.Finish(t.Context())
	must(t, err)
	if got := list(t, m, version); strings.Contains(got, "git") || strings.Contains(got, `"new`) || strings.Contains(got, "link") || !strings.Contains(got, `"a/other"`) {
		t.Errorf("the version has %s", got)
	}
	q := newPlace(t, m)
	q.write("a/git/config", "hostile")
	q.write("new/hooks", "hostile")
	q.write("link/config", "hostile")
	hostile := q.commit()
	for _, to := range []string{newPlace(t, m).commit(), hostile, version} {
		must(t, f.Load(t.Context(), m, to))
		if data, err := os.ReadFile(filepath.Join(p.path, "a/git/config")); string(data) != "x" {
			t.Errorf("a forbidden file was touched: %q, %v", data, err)
		}
		if _, err := os.Lstat(filepath.Join(p.path, "new")); err == nil {
			t.Error("what is forbidden was made")
		}
		if _, err := os.Readlink(link); err != nil {
			t.Errorf("a forbidden link was replaced: %v", err)
		}
		// A loaded version contains the parent directory of the forbidden one, or lacks it.
		if changed, err := f.Changed(t.Context()); changed != (to != version) || err != nil {
			t.Errorf("changed after loading: %v, %v", changed, err)
		}
	}
	if !strings.Contains(strings.Join(warned, "\n"), `"a/git"`) {
		t.Errorf("warnings: %q", warned)
	}
	if _, err := dirversion.Open(dirversion.Config{Path: filepath.Join(p.path, "a/git"), Forbidden: forbidden}); err == nil {
		t.Error("the forbidden directory itself was opened")
	}
}

func TestSockets(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("d/file", "x")
	before := p.commit()
	var warned []string
	f, err := dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Warn: func(m string) { warned = append(warned, m) }})
	must(t, err)
	defer f.Close()
	for i := range 12 {
		l, err := net.Listen("unix", filepath.Join(p.path, fmt.Sprintf("d/socket%02d", i)))
		must(t, err)
		defer l.Close()
	}
	p.settle()
	if changed, err := f.Changed(t.Context()); changed || err != nil {
		t.Errorf("a socket counts as a change: %v", err)
	}
	p.write("e", "x")
	p.write("d/file", "y")
	v, err := m.Begin(t.Context(), before)
	must(t, err)
	must(t, f.Commit(t.Context(), v))
	version, err := v.Finish(t.Context())
	must(t, err)
	if got := list(t, m, version); strings.Contains(got, "socket") {
		t.Errorf("the version has %s", got)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], `"d/socket00"`) || !strings.Contains(warned[0], "2 more") {
		t.Errorf("warnings: %q", warned)
	}
}

// TestCommitIncrement changes some directories and leaves others, and compares the version with one
// from reading everything.
func TestCommitIncrement(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	everything(p)
	for i := range 200 {
		p.write(fmt.Sprintf("many/d%d/e%d/f%d", i%5, i%20, i), fmt.Sprint(i))
	}
	version := p.commit()
	p.settle()
	var v *plugintest.MemoryVersion
	increment := func() string {
		v = nil
		changed, err := p.f.CommitIncrement(t.Context(), func() (domarkx.VersionWriter, error) {
			begun, err := m.Begin(t.Context(), version)
			v = begun.(*plugintest.MemoryVersion)
			return v, err
		})
		must(t, err)
		if changed != (v != nil) {
			t.Fatalf("changed is %v", changed)
		}
		if v != nil {
			version, err = v.Finish(t.Context())
			must(t, err)
		}
		return version
	}
	if increment(); v != nil {
		t.Error("a change where there is none")
	}
	for _, c := range []struct {
		name   string
		change func() error
	}{
		{"content", func() error { return os.WriteFile(filepath.Join(p.path, "many/d1/e6/f6"), []byte("new"), 0o644) }},
		{"new", func() error { return os.WriteFile(filepath.Join(p.path, "many/d2/new"), []byte("new"), 0o644) }},
		{"rename", func() error { return os.Rename(filepath.Join(p.path, "many/d3"), filepath.Join(p.path, "many/d3x")) }},
		{"removed", func() error { return os.RemoveAll(filepath.Join(p.path, "many/d4/e4")) }},
		{"mode", func() error { return os.Chmod(filepath.Join(p.path, "many/d0"), 0o700) }},
		{"linked", func() error {
			return os.Link(filepath.Join(p.path, "many/d0/e0/f0"), filepath.Join(p.path, "many/d1/e1/other"))
		}},
		{"renamed with links", func() error { return os.Rename(filepath.Join(p.path, "sub"), filepath.Join(p.path, "other")) }},
		{"unlinked", func() error { return os.Remove(filepath.Join(p.path, "many/d1/e1/other")) }},
	} {
		must(t, c.change())
		got := increment()
		if v == nil || v.Kept() == 0 {
			t.Errorf("%s: no directory was reused", c.name)
		}
		whole, err := dirversion.Open(dirversion.Config{Path: p.path})
		must(t, err)
		w, err := m.Begin(t.Context(), "")
		must(t, err)
		must(t, whole.Commit(t.Context(), w))
		must(t, whole.Close())
		want, err := w.Finish(t.Context())
		must(t, err)
		if got != want {
			t.Errorf("%s: %s", c.name, cmp.Diff(list(t, m, want), list(t, m, got)))
		}
		p.settle()
		if increment(); v != nil {
			t.Errorf("%s: a change after the commit", c.name)
		}
	}
}

func TestExclude(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m, "*.log", "build/", "/top", "a/**/skip")
	for _, name := range []string{"x.log", "keep", "sub/build/out", "sub/y.log", "build.txt", "top", "sub/top", "a/skip/f", "a/b/c/skip", "b/skip"} {
		p.write(name, name)
	}
	must(t, os.WriteFile(filepath.Join(p.path, "build"), nil, 0o644)) // not a directory
	version := p.commit()
	got := list(t, m, version)
	for path, in := range map[string]bool{
		"x.log": false, "keep": true, "sub/build": false, "sub/y.log": false, "build.txt": true, "build": true, "top": false, "sub/top": true,
		"a/skip": false, "a/b/c/skip": false, "a/b/c": true, "b/skip": true,
	} {
		if strings.Contains(got, `"`+path+`"`) != in {
			t.Errorf("%s: is in the version: %v, expected %v", path, !in, in)
		}
	}
	empty := newPlace(t, m).commit()
	p.load(empty)
	for name, there := range map[string]bool{"x.log": true, "keep": false, "sub/build/out": true, "sub/top": false, "a/b/c/skip": true, "b": false} {
		if _, err := os.Lstat(filepath.Join(p.path, name)); (err == nil) != there {
			t.Errorf("%s: exists: %v, expected %v", name, !there, there)
		}
	}
	p.load(version)
	if p.commit() != version {
		t.Error("another version")
	}
	for _, bad := range []string{"[", "a//b", "../x", "", "!keep"} {
		if _, err := dirversion.Open(dirversion.Config{Path: p.path, Exclude: []string{bad}}); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestPrunedContentIsGivenAgain(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	everything(p)
	before := p.commit()
	p.settle()
	m.Forget()
	if again := p.commit(); again != before {
		t.Error("another version")
	}
	q := newPlace(t, m)
	q.load(before)
}

func TestNothingIsReadTwice(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	for _, name := range []string{"a", "b", "c/d", "c/e"} {
		p.write(name, name)
	}
	future := time.Now().AddDate(10, 0, 0)
	must(t, os.Chtimes(filepath.Join(p.path, "a"), future, future))
	p.commit()
	p.settle()
	stored := m.Stored()
	p.write("b", "changed")
	p.commit()
	if n := m.Stored() - stored; n != 1 {
		t.Errorf("%d contents were read for one change", n)
	}
}

// TestDeep uses paths that are longer than the kernel accepts at once.
func TestDeep(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	fd, err := unix.Open(p.path, unix.O_DIRECTORY, 0)
	must(t, err)
	for range 60 {
		name := strings.Repeat("d", 200)
		must(t, unix.Mkdirat(fd, name, 0o755))
		next, err := unix.Openat(fd, name, unix.O_DIRECTORY, 0)
		must(t, err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	version := p.commit()
	q := newPlace(t, m)
	q.load(version)
	if q.commit() != version {
		t.Error("another version")
	}
	must(t, dirversion.Empty(q.path))
	must(t, dirversion.Empty(p.path))
}

// TestDeeperThanOpenFiles removes directories that are nested more deeply than this process may
// open files.
func TestDeeperThanOpenFiles(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	fd, err := unix.Open(p.path, unix.O_DIRECTORY, 0)
	must(t, err)
	for range 600 {
		must(t, unix.Mkdirat(fd, "d", 0o755))
		next, err := unix.Openat(fd, "d", unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		must(t, err)
		unix.Close(fd)
		fd = next
	}
	unix.Close(fd)
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	open, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(len(open)) + 20, Max: limit.Max}))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	must(t, dirversion.Empty(p.path))
}

// TestLinksThatComeAndGo replaces links while their directory is read; other files must not be lost.
func TestLinksThatComeAndGo(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("d/keep", "1")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			for _, change := range []func(string){func(at string) { os.Symlink("keep", at) }, func(at string) { os.Remove(at) }} {
				for n := range 300 {
					change(filepath.Join(p.path, "d", fmt.Sprint("link", n)))
				}
			}
		}
	}()
	commits := 100
	if testing.Short() {
		commits = 20
	}
	for range commits {
		version := p.commit()
		found := false
		must(t, domarkx.WalkVersion(t.Context(), m, version, func(path string, _ domarkx.File) error {
			found = found || path == "d/keep"
			return nil
		}))
		if !found {
			t.Error("a file is not in the version that was there all the time")
			break
		}
	}
	close(stop)
	<-stopped
}

func TestDamagedCache(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	everything(p)
	want := p.commit()
	p.settle()
	data, err := os.ReadFile(p.cache)
	must(t, err)
	places := 60
	if testing.Short() {
		places = 12
	}
	for i := 0; i < len(data); i += 1 + len(data)/places {
		damaged := append([]byte(nil), data...)
		damaged[i] ^= 0xff
		must(t, os.WriteFile(p.cache, damaged, 0o600))
		if got := p.commit(); got != want {
			t.Fatalf("byte %d damaged: another version", i)
		}
		must(t, os.WriteFile(p.cache, data[:i], 0o600))
		if got := p.commit(); got != want {
			t.Fatalf("cut at %d: another version", i)
		}
	}
}
