//go:build linux

package dirversion_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/dirversion"
	"github.com/domarkx/domarkx/plugins/gitignore"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// observed is a directory that is only observed, with a tracked file in an ignored directory.
func observed(t *testing.T, protect func(string, bool) bool) *place {
	t.Helper()
	p := &place{t: t, path: t.TempDir(), cache: filepath.Join(t.TempDir(), "stat"), m: plugintest.NewMemory()}
	var rules *gitignore.Stack
	rules = rules.With(gitignore.Parse("", []byte("*.o\n")))
	f, err := dirversion.Open(dirversion.Config{Path: p.path, Cache: p.cache, Limits: domarkx.Limits{File: 1000}, Warn: func(m string) { p.warned = append(p.warned, m) }, Observe: &dirversion.Observe{
		Rules: rules, Aside: p.cache + ".aside", Protect: protect,
		Tracked: func(path string, directory bool) bool {
			return path == "build/kept/tracked" || directory && (path == "build" || path == "build/kept")
		}}})
	must(t, err)
	t.Cleanup(func() { f.Close() })
	p.f = f
	return p
}

// files returns the paths in a version.
func (p *place) files(version string) []string {
	p.t.Helper()
	var list []string
	var walk func(id, at string)
	walk = func(id, at string) {
		files, err := p.m.Directory(p.t.Context(), id)
		must(p.t, err)
		for _, f := range files {
			path := at + f.Name
			if list = append(list, path); f.Type == domarkx.Directory {
				walk(f.ID, path+"/")
			}
		}
	}
	top, err := p.m.Top(p.t.Context(), version)
	must(p.t, err)
	walk(top.ID, "")
	slices.Sort(list)
	return list
}

func TestObserve(t *testing.T) {
	p := observed(t, nil)
	for path, content := range map[string]string{
		".gitignore": "/build/\n/tmp\n", "a.go": "a", "a.o": "o", "sub/.gitignore": "!b.o\nlocal\n", "sub/b.o": "o", "sub/local": "l", "sub/c.o": "o",
		"build/out": "o", "build/kept/tracked": "t", "build/kept/other": "o", "tmp/x": "x", "nested/.git/HEAD": "ref", "nested/x": "x", "module/.git": "gitdir: x",
		"big": strings.Repeat("x", 1001), "deep/er/file": "f",
	} {
		p.write(path, content)
	}
	must(t, unix.Mkfifo(filepath.Join(p.path, "fifo"), 0o600))
	must(t, os.Symlink("a.go", filepath.Join(p.path, "link")))
	version := p.commit()
	want := []string{".gitignore", "a.go", "build", "build/kept", "build/kept/tracked", "deep", "deep/er", "deep/er/file", "link", "sub", "sub/.gitignore", "sub/b.o"}
	if got := p.files(version); !slices.Equal(got, want) {
		t.Errorf("the version has %q, expected %q", got, want)
	}
	if got, want := p.f.LeftOut(), []domarkx.LeftOut{{Path: "big", Reason: "large"}, {Path: "fifo", Reason: "special"}, {Path: "module", Reason: "nested repository"}, {Path: "nested", Reason: "nested repository"}}; !slices.Equal(got, want) {
		t.Errorf("left out: %q, expected %q", got, want)
	}
	waitForTimes(t)
	p.commit()
	if changed, err := p.f.Changed(t.Context()); changed || err != nil {
		t.Errorf("changed %t, %v", changed, err)
	}
}

// TestObserveUnreadable leaves out what cannot be read. Root reads everything, so it runs the test as another user.
func TestObserveUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		temp := t.TempDir()
		must(t, errors.Join(os.Chmod(temp, 0o777), os.Chmod(filepath.Dir(temp), 0o755)))
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestObserveUnreadable$", "-test.v")
		cmd.Dir, cmd.Env = temp, append(os.Environ(), "TMPDIR="+temp)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestObserveUnreadable") {
			t.Errorf("as another user: %v\n%s", err, out)
		}
		return
	}
	p := observed(t, nil)
	p.write("a", "a")
	p.write("secret", "s")
	p.write("deep/er/file", "f")
	before := p.commit()
	for _, path := range []string{"secret", "deep/er"} {
		must(t, os.Chmod(filepath.Join(p.path, path), 0))
	}
	after := p.commit()
	if got, want := p.files(after), []string{"a", "deep"}; !slices.Equal(got, want) {
		t.Errorf("the version has %q, expected %q", got, want)
	}
	if got, want := p.f.LeftOut(), []domarkx.LeftOut{{Path: "deep/er", Reason: "unreadable"}, {Path: "secret", Reason: "unreadable"}}; !slices.Equal(got, want) {
		t.Errorf("left out: %q, expected %q", got, want)
	}
	must(t, errors.Join(os.Chmod(filepath.Join(p.path, "secret"), 0o644), os.Chmod(filepath.Join(p.path, "deep/er"), 0o755)))
	if got := p.commit(); got != before {
		t.Errorf("readable again, the version is %s, expected %s", got, before)
	}
}

// TestObserveChanging leaves out a file that changes whenever it is read, and has it when it settles.
func TestObserveChanging(t *testing.T) {
	p := observed(t, nil)
	p.write("a", "a")
	p.write("log", "x")
	v, err := p.m.Begin(t.Context(), "")
	must(t, err)
	must(t, p.f.Commit(t.Context(), &writing{v, filepath.Join(p.path, "log"), 100}))
	version, err := v.Finish(t.Context())
	must(t, err)
	if got, want := p.files(version), []string{"a"}; !slices.Equal(got, want) {
		t.Errorf("the version has %q, expected %q", got, want)
	}
	if got, want := p.f.LeftOut(), []domarkx.LeftOut{{Path: "log", Reason: "changing"}}; !slices.Equal(got, want) {
		t.Errorf("left out: %q, expected %q", got, want)
	}
	if got, want := p.files(p.commit()), []string{"a", "log"}; !slices.Equal(got, want) {
		t.Errorf("settled, the version has %q, expected %q", got, want)
	}
}

// TestObserveLoad goes back to a version. What is in none stays, whatever the version's own rules are.
func TestObserveLoad(t *testing.T) {
	p := observed(t, func(path string, directory bool) bool { return path == "protected" || path == "dir/protected" })
	p.write("a", "one")
	p.write("gone", "g")
	p.write("place", "file")
	before := p.commit()
	keeps := map[string]string{"x.o": "o", "new/x.o": "o", "ignored": "i", "protected": "p", "dir/protected": "p", "nested/.git/HEAD": "r", "nested/x": "n",
		"big": strings.Repeat("x", 1001), "place/.git/HEAD": "r", "place/x": "n"}
	must(t, os.Remove(filepath.Join(p.path, "gone")))
	must(t, os.Remove(filepath.Join(p.path, "place")))
	for path, content := range keeps {
		p.write(path, content)
	}
	for path, content := range map[string]string{".gitignore": "ignored\n", "a": "two", "new/y": "y", "dir/z": "z"} {
		p.write(path, content)
	}
	after := p.commit()
	must(t, p.f.Load(t.Context(), p.m, before))
	for path, want := range keeps {
		if got, err := os.ReadFile(filepath.Join(p.path, path)); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]string{"a": "one", "gone": "g"} {
		if got, err := os.ReadFile(filepath.Join(p.path, path)); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"new/y", "dir/z"} {
		if _, err := os.Lstat(filepath.Join(p.path, path)); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	p.commit()
	must(t, p.f.Load(t.Context(), p.m, after))
	if got := p.commit(); got != after {
		t.Errorf("going there again gives %s, expected %s", got, after)
	}
}

// TestObserveLoadChanged goes back while another program changes files: those stay.
func TestObserveLoadChanged(t *testing.T) {
	for name, change := range map[string]func(p *place){
		"changed":  func(p *place) { p.write("a", "by another program") },
		"new":      func(p *place) { p.write("new", "by another program") },
		"in place": func(p *place) { p.write("gone", "by another program") },
		"deep":     func(p *place) { p.write("dir/new", "by another program") },
		"link": func(p *place) {
			must(p.t, os.Symlink("elsewhere", filepath.Join(p.path, "gone")))
		},
	} {
		p := observed(t, nil)
		p.write("a", "one")
		p.write("gone", "g")
		before := p.commit()
		must(t, os.Remove(filepath.Join(p.path, "gone")))
		p.write("a", "second")
		p.write("dir/x", "x")
		p.commit()
		change(p)
		err := p.f.Load(t.Context(), p.m, before)
		var changed *dirversion.ChangedError
		if !errors.As(err, &changed) || !errors.Is(err, domarkx.ErrConflict) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if data, err := os.ReadFile(filepath.Join(p.path, changed.Paths[0])); name != "link" && (err != nil || string(data) != "by another program") {
			t.Errorf("%s: %s is %q, %v", name, changed.Paths, data, err)
		}
		p.commit() // and now it is in a version
		must(t, p.f.Load(t.Context(), p.m, before))
		if got, want := p.files(p.commit()), []string{"a", "gone"}; !slices.Equal(got, want) {
			t.Errorf("%s: %q is left, expected %q", name, got, want)
		}
	}
}
