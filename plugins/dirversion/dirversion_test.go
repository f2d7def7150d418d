//go:build linux

package dirversion_test

import (
	"context"
	"errors"
	"fmt"
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

// place is a directory with a stat cache.
type place struct {
	t     *testing.T
	path  string
	cache string
	f     *dirversion.Directory
	m     *plugintest.Memory

	warned []string
}

func newPlace(t *testing.T, m *plugintest.Memory, exclude ...string) *place {
	t.Helper()
	p := &place{t: t, path: t.TempDir(), cache: filepath.Join(t.TempDir(), "stat"), m: m}
	f, err := dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Exclude: exclude, Warn: func(m string) { p.warned = append(p.warned, m) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	must(t, os.Chmod(p.path, 0o755))
	p.f = f
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.path, name)
	must(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(p.t, os.WriteFile(path, []byte(content), 0o644))
}

func (p *place) commit() string {
	p.t.Helper()
	id, err := p.tryCommit()
	must(p.t, err)
	return id
}

func (p *place) tryCommit() (string, error) {
	v, err := p.m.Begin(p.t.Context(), "")
	must(p.t, err)
	if err := p.f.Commit(p.t.Context(), v); err != nil {
		return "", err
	}
	return v.Finish(p.t.Context())
}

func (p *place) load(version string) {
	p.t.Helper()
	must(p.t, p.f.Load(p.t.Context(), p.m, version))
	if n := p.m.Open(); n != 0 {
		p.t.Errorf("%d contents are not closed", n)
	}
}

func (p *place) changed() bool {
	p.t.Helper()
	changed, err := p.f.Changed(p.t.Context())
	must(p.t, err)
	return changed
}

// settle makes all files old enough that their times identify their contents.
func (p *place) settle() {
	waitForTimes(p.t)
	p.commit()
}

// waitForTimes waits until the file system gives a change a time that is clearly later than those
// of all changes so far.
func waitForTimes(t testing.TB) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	touch := func() time.Time {
		must(t, os.WriteFile(probe, []byte("x"), 0o600))
		info, err := os.Stat(probe)
		must(t, err)
		return info.ModTime()
	}
	start, deadline := touch(), time.Now().Add(10*time.Second)
	for touch().Sub(start) < 30*time.Millisecond {
		if time.Now().After(deadline) {
			t.Fatal("the times of files do not advance")
		}
		time.Sleep(time.Millisecond)
	}
}

// list returns the content of a version, one line per file.
func list(t *testing.T, m *plugintest.Memory, version string) string {
	t.Helper()
	var b strings.Builder
	must(t, domarkx.WalkVersion(context.Background(), m, version, func(path string, f domarkx.File) error {
		fmt.Fprintf(&b, "%q %v %04o", path, f.Type, f.Mode)
		if f.HardLink != "" {
			fmt.Fprintf(&b, " =%q", f.HardLink)
		}
		if f.Type == domarkx.Regular || f.Type == domarkx.Symlink {
			c, err := m.Content(context.Background(), f.ID)
			must(t, err)
			data := make([]byte, min(c.Size(), 40))
			c.ReadAt(data, 0)
			c.Close()
			fmt.Fprintf(&b, " %q", data)
		}
		for _, a := range f.Xattrs {
			fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
		}
		if f.Major != 0 || f.Minor != 0 {
			fmt.Fprintf(&b, " %d:%d", f.Major, f.Minor)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

// everything fills a directory with all kinds of files.
func everything(p *place) string {
	t := p.t
	p.write("plain", "one")
	p.write("sub/run.sh", "#!/bin/sh\n")
	must(t, unix.Chmod(filepath.Join(p.path, "sub/run.sh"), 0o4755))
	p.write("sub/secret", "x")
	must(t, os.Chmod(filepath.Join(p.path, "sub/secret"), 0o600))
	p.write("repo/.git/config", "[core]\n")
	p.write("repo/.gitmodules", "")
	p.write("na\xffme\n", "odd")
	p.write(strings.Repeat("n", 255), "long")
	must(t, os.MkdirAll(filepath.Join(p.path, "empty/deeper"), 0o755))
	must(t, unix.Chmod(filepath.Join(p.path, "empty"), 0o1777))
	must(t, os.Symlink("../../etc/passwd", filepath.Join(p.path, "sub/link")))
	must(t, os.Symlink(".", filepath.Join(p.path, "loop")))
	must(t, unix.Mkfifo(filepath.Join(p.path, "fifo"), 0o640))
	must(t, os.Chmod(filepath.Join(p.path, "fifo"), 0o640))
	must(t, os.Link(filepath.Join(p.path, "plain"), filepath.Join(p.path, "sub/also")))
	want := `"" directory 0755
"empty" directory 1777
"empty/deeper" directory 0755
"fifo" FIFO 0640
"loop" symbolic link 0777 "."
"na\xffme\n" file 0644 "odd"
"` + strings.Repeat("n", 255) + `" file 0644 "long"
"plain" file 0644 "one"
"repo" directory 0755
"repo/.git" directory 0755
"repo/.git/config" file 0644 "[core]\n"
"repo/.gitmodules" file 0644 ""
"sub" directory 0755
"sub/also" file 0644 ="plain" "one"
"sub/link" symbolic link 0777 "../../etc/passwd"
"sub/run.sh" file 4755 "#!/bin/sh\n"
"sub/secret" file 0600 "x"
`
	must(t, unix.Setxattr(filepath.Join(p.path, "plain"), "user.note", []byte("a\x00b"), 0))
	want = strings.ReplaceAll(want, `"one"`, `"one" user.note="a\x00b"`)
	must(t, unix.Setxattr(filepath.Join(p.path, "repo"), "user.dir", []byte("d"), 0))
	want = strings.Replace(want, `"repo" directory 0755`, `"repo" directory 0755 user.dir="d"`, 1)
	if os.Geteuid() == 0 {
		must(t, unix.Mknod(filepath.Join(p.path, "zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))))
		must(t, os.Chmod(filepath.Join(p.path, "zero"), 0o666))
		want += "\"zero\" character device 0666 1:5\n"
	}
	return want
}

func TestRoundTrip(t *testing.T) {
	m := plugintest.NewMemory()
	p := newPlace(t, m)
	want := everything(p)
	version := p.commit()
	if diff := cmp.Diff(want, list(t, m, version)); diff != "" {
		t.Error(diff)
	}
	q := newPlace(t, m)
	q.load(version)
	if q.changed() {
		t.Error("changed right after loading")
	}
	if again := q.commit(); again != version {
		t.Errorf("the version changed after loading it elsewhere:\n%s", cmp.Diff(want, list(t, m, again)))
	}
	must(t, os.Remove(q.cache))
	if again := q.commit(); again != version {
		t.Errorf("the version changed without the cache:\n%s", cmp.Diff(want, list(t, m, again)))
	}
}

func TestChanged(t *testing.T) {
	changes := map[string]func(p *place) error{
		"content":       func(p *place) error { return os.WriteFile(filepath.Join(p.path, "plain"), []byte("two"), 0o644) },
		"mode":          func(p *place) error { return os.Chmod(filepath.Join(p.path, "sub/secret"), 0o400) },
		"directorymode": func(p *place) error { return os.Chmod(filepath.Join(p.path, "empty/deeper"), 0o700) },
		"topmode":       func(p *place) error { return os.Chmod(p.path, 0o750) },
		"new":           func(p *place) error { return os.WriteFile(filepath.Join(p.path, "sub/z"), nil, 0o644) },
		"gone":          func(p *place) error { return os.Remove(filepath.Join(p.path, "sub/link")) },
		"directory":     func(p *place) error { return os.Mkdir(filepath.Join(p.path, "empty/deeper/still"), 0o755) },
		"nodirectory":   func(p *place) error { return os.Remove(filepath.Join(p.path, "empty/deeper")) },
		"link": func(p *place) error {
			return errors.Join(os.Remove(filepath.Join(p.path, "loop")), os.Symlink("..", filepath.Join(p.path, "loop")))
		},
		"type": func(p *place) error {
			return errors.Join(os.Remove(filepath.Join(p.path, "fifo")), os.Mkdir(filepath.Join(p.path, "fifo"), 0o755))
		},
		"rename": func(p *place) error {
			return os.Rename(filepath.Join(p.path, "repo"), filepath.Join(p.path, "repository"))
		},
		"xattr": func(p *place) error {
			return unix.Setxattr(filepath.Join(p.path, "plain"), "user.note", []byte("z"), 0)
		},
		"directoryxattr": func(p *place) error { return unix.Setxattr(filepath.Join(p.path, "sub"), "user.note", []byte("z"), 0) },
		"unlinked": func(p *place) error {
			return errors.Join(os.Remove(filepath.Join(p.path, "sub/also")), os.WriteFile(filepath.Join(p.path, "sub/also"), []byte("one"), 0o644))
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			m := plugintest.NewMemory()
			p := newPlace(t, m)
			everything(p)
			before := p.commit()
			p.settle()
			if p.changed() {
				t.Fatal("changed before anything was")
			}
			must(t, change(p))
			if !p.changed() {
				t.Error("not changed")
			}
			after := p.commit()
			if after == before {
				t.Error("the same version")
			}
			p.settle()
			if p.changed() {
				t.Error("still changed after the commit")
			}
			p.load(before)
			if p.changed() && name != "unlinked" {
				t.Error("changed right after loading")
			}
			must(t, os.Remove(p.cache))
			if got := p.commit(); got != before {
				t.Errorf("differs from the loaded version: %s", cmp.Diff(list(t, m, before), list(t, m, got)))
			}
			p.load(after)
			if got := p.commit(); got != after {
				t.Errorf("differs from the loaded version: %s", cmp.Diff(list(t, m, after), list(t, m, got)))
			}
		})
	}
}
