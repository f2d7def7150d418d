//go:build unix

package homes_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/homes"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// robot is a format whose program has its documents in the directory "talks" beside a file "robot.cfg", and its
// memory in "memory".
func robot(name string) format.Codec {
	return format.Codec{Name: name, Origin: format.Origin{Homes: &format.Homes{
		Type: name,
		Find: func(files []string, head func(string) []byte) []format.Home {
			var homes []format.Home
			for _, file := range files {
				if dir, ok := strings.CutSuffix(file, name+".cfg"); ok && strings.HasPrefix(string(head(file)), "robot") {
					homes = append(homes, format.Home{Name: name, Documents: dir + "talks", Parts: []format.Part{
						{From: dir + "memory", To: "state/memory"}, {From: dir + "missing", To: "state/missing"}, {From: dir + "talks", To: "talks"}}})
				}
			}
			return homes
		},
		Names: func(h domarkx.Header, m domarkx.Message, has func(string) bool) bool { return has(m.Content[0].Text) },
	}}}
}

// A desk is a repository, and a directory of a robot.
type desk struct {
	*enginetest.Clone
	dir    string
	keeper homes.Keeper
}

func newDesk(t *testing.T, files map[string]string) *desk {
	c := enginetest.New(t)
	d := &desk{c, t.TempDir(), homes.Keeper{Store: c.Store, Env: c.Env, Vacant: func(context.Context, string) error { return nil }}}
	for name, text := range files {
		d.write(name, text)
	}
	return d
}

// write writes a file that was changed an hour ago, so that its time identifies its content.
func (d *desk) write(name, text string) string {
	d.T.Helper()
	path := filepath.Join(d.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.T.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		d.T.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		d.T.Fatal(err)
	}
	return path
}

func (d *desk) found(codecs ...format.Codec) []*homes.Home {
	d.T.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS(d.dir), ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return homes.Find(codecs, "", d.dir, files, os.ReadFile)
}

// keep keeps the robot's directory, and returns the new versions and the warnings.
func (d *desk) keep() (kept []homes.Kept, warnings []string) {
	d.T.Helper()
	ctx := d.T.Context()
	dirs, err := d.keeper.Keep(ctx, d.found(robot("robot")), func(err error) { warnings = append(warnings, err.Error()) })
	if err != nil {
		d.T.Fatal(err)
	}
	defer dirs.Abort()
	err = d.Update(ctx, "test", func(tx *transaction.Tx) error {
		return dirs.Commit(ctx, tx, engine.Change{Operation: "import"})
	})
	if err != nil {
		d.T.Fatal(err)
	}
	kept = dirs.Done()
	if err := dirs.Settle(); err != nil {
		d.T.Fatal(err)
	}
	slices.Sort(warnings)
	return kept, warnings
}

// content returns the files of the robot's resource in a version, each with its mode and content.
func (d *desk) content(v domarkx.Version) map[string]string {
	d.T.Helper()
	ctx := d.T.Context()
	whole, err := d.Store.Version(ctx, v.ID)
	if err != nil {
		d.T.Fatal(err)
	}
	all := map[string]string{}
	err = domarkx.WalkVersion(ctx, d.Store, whole.Resources[0].Version, func(path string, f domarkx.File) error {
		if f.Type == domarkx.Directory {
			return nil
		}
		r, err := d.Store.Content(ctx, f.ID)
		if err != nil {
			return err
		}
		defer r.Close()
		text := make([]byte, r.Size())
		if n, err := r.ReadAt(text, 0); n < len(text) {
			return err
		}
		all[path] = fmt.Sprintf("%o %s", f.Mode, text)
		if f.Type == domarkx.Symlink {
			all[path] = "-> " + string(text)
		}
		return nil
	})
	if err != nil {
		d.T.Fatal(err)
	}
	return all
}

// TestFind: a path belongs to the first format that claims it.
func TestFind(t *testing.T) {
	d := newDesk(t, map[string]string{"a/robot.cfg": "robot", "a/other.cfg": "robot", "b/robot.cfg": "none", "a/talks/1.md": "x", "c/other.cfg": "robot"})
	found := d.found(format.Codec{Name: "plain"}, robot("robot"), robot("other"))
	var names []string
	for _, h := range found {
		home := h
		names = append(names, home.Name+" "+home.Documents)
	}
	if diff := cmp.Diff([]string{"robot a/talks", "other c/talks"}, names); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for path, want := range map[string]int{"a/talks": 0, "a/talks/x/y": 0, "a/memory/x": 0, "a/talkshow": -1, "a/robot.cfg": -1, "c/talks/1.md": 1} {
		if got := slices.IndexFunc(found, func(h *homes.Home) bool { return h.Contains(path) }); got != want {
			t.Errorf("%s is in home %d", path, got)
		}
	}
	for path, want := range map[string]bool{"a/talks/1.md": true, "a/talks/deep/1.md": false, "a/memory/1.md": false} {
		if got := found[0].IsDocument(path, robot("robot")); got != want {
			t.Errorf("%s is a document: %t", path, got)
		}
	}
	if found[0].IsDocument("a/talks/1.md", robot("other")) {
		t.Error("a document of another format counts")
	}
	unreadable := func(string) ([]byte, error) { return nil, os.ErrPermission }
	if found := homes.Find([]format.Codec{robot("robot")}, "", d.dir, []string{"a/robot.cfg"}, unreadable); found != nil {
		t.Errorf("found %v in a file that cannot be read", found)
	}
	if found := homes.Find([]format.Codec{robot("robot"), robot("other")}, "other", d.dir, []string{"a/robot.cfg", "c/other.cfg"}, os.ReadFile); len(found) != 1 || found[0].Name != "other" {
		t.Errorf("found %v of the format other", found)
	}
}

// TestKeep: the parts of a directory become a version, and nothing else of it.
func TestKeep(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "talks/1.md": "talk", "memory/a": "one", "memory/deep/er/b": "two", "memory/empty": "", "secret": "secret"})
	if err := os.Chmod(filepath.Join(d.dir, "memory/a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"memory/link": "a", "memory/out": "/etc/passwd", "memory/dir": "deep"} {
		if err := os.Symlink(target, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	kept, warnings := d.keep()
	if len(kept) != 1 || kept[0].Directory != d.dir || kept[0].Version.Workspace != "robot" || warnings != nil {
		t.Fatalf("kept %v, warnings %q", kept, warnings)
	}
	want := map[string]string{"state/memory/a": "755 one", "state/memory/deep/er/b": "644 two", "state/memory/empty": "644 ", "talks/1.md": "644 talk",
		"state/memory/link": "-> a", "state/memory/out": "-> /etc/passwd", "state/memory/dir": "-> deep"}
	if diff := cmp.Diff(want, d.content(kept[0].Version)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, _ := d.keep(); again != nil {
		t.Errorf("kept again: %v", again)
	}
	d.write("memory/a", "ONE")
	if err := os.Remove(filepath.Join(d.dir, "memory/empty")); err != nil {
		t.Fatal(err)
	}
	next, _ := d.keep()
	if len(next) != 1 {
		t.Fatalf("kept %v", next)
	}
	want["state/memory/a"] = "755 ONE"
	delete(want, "state/memory/empty")
	if diff := cmp.Diff(want, d.content(next[0].Version)); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	v, err := d.Store.Version(t.Context(), next[0].Version.ID)
	if err != nil || !slices.Equal(v.Parents, []string{kept[0].Version.ID}) || v.Subject != "import the files of robot" {
		t.Errorf("the second version is %+v, %v", v, err)
	}
	d.Fsck()
}

// TestDocumentsAlone: a directory that has documents alone is not kept.
func TestDocumentsAlone(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "talks/1.md": "talk", "talks/2.md": "talk"})
	if kept, warnings := d.keep(); kept != nil || warnings != nil {
		t.Errorf("kept %v, warnings %q", kept, warnings)
	}
	dirs, err := d.keeper.Keep(t.Context(), nil, nil)
	if err != nil || dirs.Done() != nil || dirs.Settle() != nil || (*homes.Home)(nil).IsNew() || (*homes.Home)(nil).Linker(nil) != nil {
		t.Errorf("without homes: %v, %v", dirs, err)
	}
}

// TestSkipped: what cannot be stored is reported, and all else is kept.
func TestSkipped(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "memory/a": "one", "talks": "a file"})
	if err := syscall.Mkfifo(filepath.Join(d.dir, "memory/pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(d.dir, "memory", strings.Repeat("d/", 205))
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	kept, warnings := d.keep()
	if len(kept) != 1 {
		t.Fatalf("kept %v, warnings %q", kept, warnings)
	}
	if got := d.content(kept[0].Version)["state/memory/a"]; got != "644 one" {
		t.Errorf("the file is %q", got)
	}
	for _, want := range []string{"talks: not kept: it is no directory", "memory/pipe: not kept: it is no file: p", "not kept: it is more than 200 directories deep"} {
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, d.dir) && strings.Contains(w, want) }) {
			t.Errorf("no warning %q in %.400q", want, warnings)
		}
	}
	if len(warnings) != 3 {
		t.Errorf("%d warnings", len(warnings))
	}
}

// TestOutside: a part that is a link to elsewhere is not followed.
func TestOutside(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "talks/1.md": "talk", "talks/2/x": "x"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(d.dir, "memory")); err != nil {
		t.Fatal(err)
	}
	kept, warnings := d.keep()
	if len(kept) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "memory: not kept: it is no directory") {
		t.Fatalf("kept %v, warnings %q", kept, warnings)
	}
	if got := d.content(kept[0].Version); len(got) != 2 {
		t.Errorf("the version has %v", got)
	}
}

// TestNames: a directory gets a workspace of its own, and the same one when the record of it was lost.
func TestNames(t *testing.T) {
	files := map[string]string{"robot.cfg": "robot", "memory/a": "one", "talks/1.md": "talk"}
	d := newDesk(t, files)
	first, _ := d.keep()
	another := newDesk(t, map[string]string{"robot.cfg": "robot", "memory/a": "two", "talks/1.md": "talk"})
	other := &desk{d.Clone, another.dir, d.keeper}
	second, _ := other.keep()
	if len(second) != 1 || second[0].Version.Workspace != "robot-2" {
		t.Fatalf("the second directory is kept as %v", second)
	}
	for name, lose := range map[string]func(path string) error{
		"removed": os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("{"), 0o644) },
		"null":    func(path string) error { return os.WriteFile(path, []byte("null"), 0o644) },
	} {
		if err := lose(filepath.Join(d.Env.StateDir, "homes.json")); err != nil {
			t.Fatal(err)
		}
		if kept, _ := other.keep(); kept != nil {
			t.Errorf("%s: the second directory is kept again as %v", name, kept)
		}
		if kept, _ := d.keep(); kept != nil {
			t.Errorf("%s: the first directory is kept again as %v", name, kept)
		}
	}
	d.write("memory/a", "changed")
	if kept, _ := d.keep(); len(kept) != 1 || kept[0].Version.Workspace != first[0].Version.Workspace {
		t.Errorf("after a change: kept %v", kept)
	}

	taken := newDesk(t, files)
	var asked []string
	taken.keeper.Vacant = func(_ context.Context, name string) error {
		if asked = append(asked, name); len(asked) < 3 {
			return domarkx.ErrExists
		}
		return nil
	}
	taken.ImportFile(taken.WriteFile("robot-3.md", "## user\n\nHi\n"))
	if kept, _ := taken.keep(); len(kept) != 1 || kept[0].Version.Workspace != "robot-4" {
		t.Errorf("kept as %v, asked for %q", kept, asked)
	}
	if diff := cmp.Diff([]string{"robot", "robot-2", "robot-4"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

// TestErrors: an error of the store or of the caller ends the import, with the directory's name.
func TestErrors(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "memory/a": "one"})
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.keeper.Keep(ctx, d.found(robot("robot")), nil); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), d.dir) {
		t.Errorf("cancelled: %v", err)
	}
	found := d.found(robot("robot"))
	d.keeper.Vacant = func(context.Context, string) error { return broken }
	dirs, err := d.keeper.Keep(t.Context(), found, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Update(t.Context(), "test", func(tx *transaction.Tx) error {
		return dirs.Commit(t.Context(), tx, engine.Change{Operation: "import"})
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "keeping the files of "+d.dir) {
		t.Errorf("a name cannot be checked: %v", err)
	}
	dirs.Abort()
	if err := os.Rename(d.dir, d.dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d.dir + "-moved") })
	if _, err := d.keeper.Keep(t.Context(), found, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was removed: %v", err)
	}
	if err := os.Mkdir(filepath.Join(d.Env.StateDir, "homes.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := d.keeper.Keep(t.Context(), found, nil); err == nil || !strings.Contains(err.Error(), "reading the record of imported directories") {
		t.Errorf("the record cannot be read: %v", err)
	}
}

// TestLinks: messages that name a file of the directory are linked to its version.
func TestLinks(t *testing.T) {
	d := newDesk(t, map[string]string{"robot.cfg": "robot", "memory/a": "one", "talks/1.md": "talk"})
	ctx := t.Context()
	found := d.found(robot("robot"))
	dirs, err := d.keeper.Keep(ctx, found, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dirs.Abort()
	if found[0].IsNew() {
		t.Error("a version is new before it is committed")
	}
	if err := d.Update(ctx, "test", func(tx *transaction.Tx) error {
		return dirs.Commit(ctx, tx, engine.Change{Operation: "import"})
	}); err != nil {
		t.Fatal(err)
	}
	if !found[0].IsNew() {
		t.Error("a committed version is not new")
	}
	message := func(text string) domarkx.WrittenMessage {
		return domarkx.WrittenMessage{Message: domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}}}
	}
	doc := &domarkx.Document{Conversation: []domarkx.WrittenMessage{message("state/memory/a"), message("memory/a"), message("robot.cfg")}}
	linker := found[0].Linker(doc)
	var wants []bool
	for _, m := range doc.Conversation {
		wants = append(wants, linker.Wants(m.Message))
	}
	if diff := cmp.Diff([]bool{true, false, false}, wants); diff != "" {
		t.Errorf("linked (-want +got):\n%s", diff)
	}
	kept := dirs.Done()
	if len(kept) != 1 || linker.Version != kept[0].Version.ID || found[0].IsNew() {
		t.Errorf("linked to %s, kept %v", linker.Version, kept)
	}
	for name, test := range map[string]struct {
		links []string
		want  bool
	}{"none is linked": {[]string{"", "", ""}, true}, "those are linked": {[]string{"v", "", ""}, false}} {
		var live domarkx.EntryList
		for _, link := range test.links {
			live = append(live, domarkx.Entry{Link: link})
		}
		e := edit.Edit{Doc: doc, Links: edit.Links{Linker: linker}}
		if got, err := e.LinksMore(live); err != nil || got != test.want {
			t.Errorf("%s: links more: %t, %v", name, got, err)
		}
	}
}
