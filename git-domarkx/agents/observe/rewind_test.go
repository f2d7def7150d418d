package observe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// TestRewindToHostile goes back to a version with what a version of a work tree never has.
func TestRewindToHostile(t *testing.T) {
	d := newDesk(t)
	d.write("a", "one")
	tip := d.take(events.Prompt, "1", d.top)
	w, err := d.store.BeginVersion(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	id, size, err := w.Content(t.Context(), strings.NewReader("[core]\n\tfsmonitor = true\n"))
	hostile := domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}
	folder := domarkx.File{Type: domarkx.Directory, Mode: 0o755}
	for _, f := range []struct {
		path string
		file domarkx.File
	}{{"", folder}, {"a", hostile}, {"pipe", domarkx.File{Type: domarkx.Fifo, Mode: 0o644}}, {"src", folder}, {"src/.git", folder}, {"src/.git/config", hostile}} {
		err = errors.Join(err, w.Add(t.Context(), f.path, f.file))
	}
	full, tipErr := d.store.Version(t.Context(), tip.ID)
	if full.Resources[0].Version, err = w.Finish(t.Context()); errors.Join(err, tipErr) != nil {
		t.Fatal(err, tipErr)
	}
	if _, err := d.m.Rewind(t.Context(), backTo{d, full}, engine.Revision{Name: tip.Workspace}, tip.Workspace, true); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, pattern := range []string{"*", "*/.*"} {
		found, _ := filepath.Glob(filepath.Join(d.top, pattern))
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, d.top+"/"))
		}
	}
	if !slices.Equal(names, []string{".git", "a", "src"}) {
		t.Errorf("the work tree has %q", names)
	}
}

// tree returns the files in the work tree that Git does not ignore.
func (d *desk) tree() map[string]string {
	d.t.Helper()
	found := map[string]string{}
	out := git(d.t, d.top, "ls-files", "-z", "-o", "-c", "--exclude-standard")
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		if data, err := os.ReadFile(filepath.Join(d.top, name)); err == nil {
			found[name] = string(data)
		}
	}
	return found
}

// TestRewindProperty changes a work tree at random, with hostile names, and goes back to random versions of it. Versions
// have what Git does not ignore, a rewind restores it, and touches nothing ignored.
func TestRewindProperty(t *testing.T) {
	d, session, rounds := newDesk(t), 0, 5
	gittest.Checks(t, 8) // each starts dozens of processes
	rapid.Check(t, func(rt *rapid.T) {
		session++
		for file := range d.tree() {
			os.RemoveAll(filepath.Join(d.top, file))
		}
		name := rapid.SampledFrom([]string{"a", "b", "b/c", "b/d", "b/d/e", "-rf", "a b", "é\n", ".gitattributes", ".domarkx", "git~1", "b/.gitmodules", "\xff\xfe", "x.o", "b/x.o", "%2e", "c/x.o/y", strings.Repeat("n", 200)})
		d.write(".gitignore", "*.o\n")
		type taken struct {
			version domarkx.Version
			files   map[string]string
		}
		var all []taken
		workspace := ""
		for range rapid.IntRange(2, rounds).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 4).Draw(rt, "changes") {
				path := name.Draw(rt, "name")
				full := filepath.Join(d.top, path)
				if rapid.Bool().Draw(rt, "remove") {
					os.RemoveAll(full)
					continue
				}
				if os.MkdirAll(filepath.Dir(full), 0o755) == nil {
					_ = os.WriteFile(full, []byte(rapid.StringN(0, 20, -1).Draw(rt, "content")), 0o644)
				}
			}
			v := d.take(events.Turn, fmt.Sprint(session), d.top)
			if v.ID == "" {
				continue
			}
			workspace = v.Workspace
			files := d.files(workspace)
			if want := d.tree(); !equalMaps(files, want) {
				rt.Fatalf("the version has %q, the work tree %q", files, want)
			}
			all = append(all, taken{v, files})
		}
		if len(all) == 0 {
			return
		}
		target := rapid.SampledFrom(all).Draw(rt, "target")
		ignored := map[string]string{}
		for _, path := range []string{"x.o", "b/x.o", "c/x.o/y"} {
			if data, err := os.ReadFile(filepath.Join(d.top, path)); err == nil {
				ignored[path] = string(data)
			}
		}
		version, err := d.store.Version(t.Context(), target.version.ID)
		if err != nil {
			rt.Fatal(err)
		}
		was := d.tree()
		_, err = d.m.Rewind(t.Context(), backTo{d, version}, engine.Revision{Name: workspace, Message: 0}, workspace, true)
		_, isFile := target.files["b"]
		if _, isDirectory := ignored["b/x.o"]; isFile && isDirectory {
			if !errors.Is(err, domarkx.ErrExists) {
				rt.Fatalf("an ignored file is in the way: %v, want %v", err, domarkx.ErrExists)
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		if now := d.tree(); !equalMaps(now, target.files) {
			rt.Fatalf("after the rewind the work tree has %q, expected %q", now, target.files)
		}
		for path, want := range ignored {
			if data, err := os.ReadFile(filepath.Join(d.top, path)); err != nil || string(data) != want {
				rt.Fatalf("ignored %s is %q, %v", path, data, err)
			}
		}
		tip, err := d.store.WorkspaceTip(t.Context(), workspace)
		if err != nil {
			rt.Fatal(err)
		}
		before, err := d.store.Version(t.Context(), tip.Parents[0])
		if err != nil {
			rt.Fatal(err)
		}
		if _, err := d.m.Rewind(t.Context(), backTo{d, before}, engine.Revision{Name: workspace, Message: 0}, workspace, true); err != nil {
			rt.Fatal(err)
		}
		if now := d.tree(); !equalMaps(now, was) {
			rt.Fatalf("undone, the work tree has %q, expected %q", now, was)
		}
	})
}

func equalMaps(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}
