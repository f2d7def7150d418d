//go:build linux

package dirversion_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// TestLoadStaysInside loads over links that lead out of the directory, while a goroutine plants more.
func TestLoadStaysInside(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	for _, d := range []string{"a", "a/b", "c"} {
		for _, f := range []string{"one", "two", "three"} {
			p.write(d+"/"+f, d+f)
		}
	}
	version := p.commit()
	outside := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(outside, "b"), 0o755))
	for _, name := range []string{"one", "b/one", "other"} {
		must(t, os.WriteFile(filepath.Join(outside, name), []byte("outside"), 0o600))
	}
	q := newPlace(t, m)
	must(t, os.Symlink(outside, filepath.Join(q.path, "a")))
	must(t, os.Mkdir(filepath.Join(q.path, "c"), 0o755))
	must(t, os.Symlink(filepath.Join(outside, "one"), filepath.Join(q.path, "c/one")))
	must(t, os.Link(filepath.Join(outside, "other"), filepath.Join(q.path, "c/two")))
	q.load(version)
	if q.commit() != version {
		t.Error("another version")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		a, b := filepath.Join(q.path, "a"), filepath.Join(q.path, "a-aside")
		for ctx.Err() == nil {
			os.Rename(a, b)
			os.Symlink(outside, a)
			os.Remove(a)
			os.Rename(b, a)
		}
	}()
	for ctx.Err() == nil {
		q.f.Load(ctx, m, version) // may fail because of the other goroutine
		q.f.Commit(ctx, &hasher{})
	}
	<-done
	var names []string
	filepath.WalkDir(outside, func(path string, d os.DirEntry, _ error) error {
		names = append(names, path)
		if !d.IsDir() {
			if data, _ := os.ReadFile(path); string(data) != "outside" {
				t.Errorf("%s holds %q", path, data)
			}
		}
		return nil
	})
	if len(names) != 5 {
		t.Errorf("files outside: %q", names)
	}
	q.load(version)
	if q.commit() != version {
		t.Error("another version")
	}
}

// hostile is a version whose names lead out of the directory.
type hostile struct {
	*plugintest.Memory
	change func([]domarkx.File)
}

func (h hostile) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	files, err := h.Memory.Directory(ctx, id)
	h.change(files)
	return files, err
}

func TestHostileVersion(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("f", "x")
	version := p.commit()
	for _, name := range []string{"..", ".", "a/b", "../x", "", "a\x00"} {
		q := newPlace(t, m)
		err := q.f.Load(t.Context(), hostile{m, func(f []domarkx.File) { f[0].Name = name }}, version)
		if !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("name %q: %v", name, err)
		}
		err = q.f.Load(t.Context(), hostile{m, func(f []domarkx.File) { f[0].HardLink = "x/" + name }}, version)
		if err == nil {
			t.Errorf("hard link to %q: no error", name)
		}
	}
}

// TestHoles checks that long runs of zeros are written as holes: a small version must not fill a disk.
func TestHoles(t *testing.T) {
	const size = 40<<20 + 5
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	f, err := os.Create(filepath.Join(p.path, "f"))
	must(t, err)
	for _, at := range []int64{70000, 300<<10 - 1, 20 << 20, 30<<20 + 7} {
		_, err := f.WriteAt([]byte("data"), at)
		must(t, err)
	}
	must(t, errors.Join(f.Truncate(size), f.Close()))
	version := p.commit()
	q := newPlace(t, m)
	q.load(version)
	if q.commit() != version {
		t.Error("another version")
	}
	var st unix.Stat_t
	must(t, unix.Stat(filepath.Join(q.path, "f"), &st))
	if st.Size != size || st.Blocks*512 > 2<<20 {
		t.Errorf("%d bytes take %d", st.Size, st.Blocks*512)
	}
}

// TestHardLinkToAnotherFile loads a version with a hard link whose entry differs from the file's.
func TestHardLinkToAnotherFile(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("a", "harmful")
	p.write("b", "harmless")
	p.write("c", "harmless")
	version := p.commit()
	for first, ok := range map[string]bool{"a": false, "b": true, "c": false, "d": false, "b/x": false} {
		q := newPlace(t, m)
		err := q.f.Load(t.Context(), hostile{m, func(f []domarkx.File) { f[2].HardLink = first }}, version)
		if ok != (err == nil) || !ok && !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("hard link to %q: %v", first, err)
		}
	}
}

// TestAttributesOfOthers checks that a load ignores extended attributes that control permissions or
// belong to a kernel.
func TestAttributesOfOthers(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	p.write("a", "1")
	version := p.commit()
	q := newPlace(t, m)
	must(t, q.f.Load(t.Context(), hostile{m, func(f []domarkx.File) {
		f[0].Xattrs = []domarkx.Xattr{{Name: "security.made_up", Value: []byte("x")}, {Name: "system.posix_acl_access", Value: []byte("x")}, {Name: "user.mine", Value: []byte("x")}}
	}}, version))
	names := make([]byte, 1000)
	n, err := unix.Listxattr(filepath.Join(q.path, "a"), names)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(names[:n]); strings.Contains(got, "made_up") || strings.Contains(got, "posix_acl") || !strings.Contains(got, "user.mine") {
		t.Errorf("the attributes are %q", got)
	}
	if !strings.Contains(strings.Join(q.warned, "\n"), "security.made_up") {
		t.Errorf("the warnings are %q", q.warned)
	}
}
