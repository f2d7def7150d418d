package beneath_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/beneath"
)

// tree makes a directory with files, and one beside it, to which nothing may lead.
func tree(t *testing.T) (inside, outside string) {
	t.Helper()
	top := t.TempDir()
	inside, outside = filepath.Join(top, "in"), filepath.Join(top, "out")
	for _, dir := range []string{filepath.Join(inside, "a/b"), filepath.Join(outside, "b")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": outside, "up": "..", "a/link": "../../out", "a/self": "b"} {
		if err := os.Symlink(target, filepath.Join(inside, name)); err != nil {
			t.Fatal(err)
		}
	}
	return inside, outside
}

func open(t *testing.T, path string) *beneath.Dir {
	t.Helper()
	d, err := beneath.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// kernels calls a test as on the present kernel, and as on one without openat2(2).
func kernels(t *testing.T, test func(t *testing.T, adapt func(*beneath.Dir))) {
	t.Run("openat2", func(t *testing.T) { test(t, func(*beneath.Dir) {}) })
	t.Run("openat", func(t *testing.T) { test(t, (*beneath.Dir).WithoutOpenat2) })
}

// TestOpenStaysBeneath: no path leads out of the directory, and no link is followed.
func TestOpenStaysBeneath(t *testing.T) {
	kernels(t, func(t *testing.T, adapt func(*beneath.Dir)) {
		inside, outside := tree(t)
		d := open(t, inside)
		adapt(d)
		for _, path := range []string{"..", "a/../..", "../out", "link", "link/b", "up", "up/out", "a/link", "a/link/b", "a/self", outside, "/", "a/missing"} {
			if got, err := d.Open(path); err == nil {
				t.Errorf("%q was opened", path)
				got.Close()
			}
		}
		for _, path := range []string{"", ".", "a", "a/b"} {
			got, err := d.Open(path)
			if err != nil {
				t.Errorf("%q: %v", path, err)
				continue
			}
			got.Close()
		}
	})
}

// TestOpenLongPath opens a path that is longer than the kernel takes at once.
func TestOpenLongPath(t *testing.T) {
	kernels(t, func(t *testing.T, adapt func(*beneath.Dir)) {
		d := open(t, t.TempDir())
		adapt(d)
		name := strings.Repeat("n", 200)
		at := d
		for range 30 {
			if err := at.Mkdir(name); err != nil {
				t.Fatal(err)
			}
			below, err := at.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			defer below.Close()
			at = below
		}
		got, err := d.Open(strings.TrimSuffix(strings.Repeat(name+"/", 30), "/"))
		if err != nil {
			t.Fatal(err)
		}
		defer got.Close()
		want, err := at.Stat("")
		if err != nil {
			t.Fatal(err)
		}
		if st, err := got.Stat(""); err != nil || st.Identity != want.Identity {
			t.Errorf("another directory was opened: %+v, %v", st, err)
		}
	})
}

// TestOpenBesideRenames: while a directory is exchanged with a link again and again, no look leads through the link.
func TestOpenBesideRenames(t *testing.T) {
	kernels(t, func(t *testing.T, adapt func(*beneath.Dir)) {
		inside, outside := tree(t)
		d := open(t, inside)
		adapt(d)
		foreign, err := open(t, filepath.Join(outside, "b")).Stat("")
		if err != nil {
			t.Fatal(err)
		}
		var stop atomic.Bool
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for !stop.Load() {
				if err := d.Exchange("a", d, "link"); err != nil && !errors.Is(err, errors.ErrUnsupported) {
					t.Error(err)
					return
				}
			}
		}()
		opened := 0
		for range 3000 {
			got, err := d.Open("a/b")
			if err != nil {
				continue
			}
			opened++
			if st, err := got.Stat(""); err != nil || st.Identity == foreign.Identity {
				t.Errorf("a look led outside: %v", err)
			}
			got.Close()
		}
		stop.Store(true)
		<-ended
		if opened == 0 {
			t.Error("the directory was never there")
		}
	})
}

// TestOpenFileNeverBlocks opens special files: a FIFO without a writer at once, and a link not at all.
func TestOpenFileNeverBlocks(t *testing.T) {
	inside, _ := tree(t)
	d := open(t, inside)
	if err := syscall.Mkfifo(filepath.Join(inside, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		f, err := d.OpenFile("fifo")
		if err == nil {
			err = f.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("opening a FIFO waits for its writer")
	}
	if f, err := d.OpenFile("link"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link: %v, %v", f, err)
	}
}

// TestMoves: MoveNew and Create replace nothing, MoveTo and Rename do, and Exchange loses nothing.
func TestMoves(t *testing.T) {
	top := t.TempDir()
	for name, text := range map[string]string{"x": "x", "y": "y", "z": "z"} {
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, top)
	if err := d.Mkdir("d"); err != nil {
		t.Fatal(err)
	}
	below, err := d.Open("d")
	if err != nil {
		t.Fatal(err)
	}
	defer below.Close()
	for _, step := range []struct {
		what string
		do   func() error
		err  error
		want string // the files, as NAME=CONTENT
	}{
		{"create over a file", func() error { _, err := d.Create("x"); return err }, syscall.EEXIST, "x=x y=y z=z"},
		{"move onto a file", func() error { return d.MoveNew("x", d, "y") }, syscall.EEXIST, "x=x y=y z=z"},
		{"move below", func() error { return d.MoveNew("x", below, "x") }, nil, "d/x=x y=y z=z"},
		{"exchange", func() error { return below.Exchange("x", d, "y") }, nil, "d/x=y y=x z=z"},
		{"exchange with nothing", func() error { return d.Exchange("y", d, "no") }, syscall.ENOENT, "d/x=y y=x z=z"},
		{"rename over a file", func() error { return d.Rename("y", "z") }, nil, "d/x=y z=x"},
		{"move over a file", func() error { return below.MoveTo("x", d, "z") }, nil, "z=y"},
		{"link", func() error { return below.Link(d, "z", "l") }, nil, "d/l=y z=y"},
		{"remove a directory with files", func() error { return d.Rmdir("d") }, syscall.ENOTEMPTY, "d/l=y z=y"},
	} {
		if err := step.do(); !errors.Is(err, step.err) {
			t.Errorf("%s: %v, want %v", step.what, err, step.err)
		}
		var got []string
		for _, pattern := range []string{"*", "d/*"} {
			paths, _ := filepath.Glob(filepath.Join(top, pattern))
			for _, path := range paths {
				if data, err := os.ReadFile(path); err == nil {
					name, _ := filepath.Rel(top, path)
					got = append(got, name+"="+string(data))
				}
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
	}
}

// TestNames lists more names than fit in one read, among them odd ones, sorted by bytes.
func TestNames(t *testing.T) {
	top := t.TempDir()
	want := []string{" ", "\xff", "a\nb", "…"}
	for i := range 2000 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), 1+i%200)+string(rune('A'+i/200)))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	for _, name := range want {
		if err := os.WriteFile(filepath.Join(top, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := open(t, top).Names()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d names of %d, %v", len(got), len(want), err)
	}
}

// TestHasWriter notices a program that has the file open for writing.
func TestHasWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	w, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(t, filepath.Dir(path)).OpenFile("f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []bool{true, false} {
		if got, err := f.HasWriter(); err != nil || got != want {
			t.Errorf("HasWriter is %t, %v, want %t", got, err, want)
		}
		w.Close()
	}
}
