package plugins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestCheck(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(filepath.Join(w.config.WorkTree, "real"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", filepath.Join(w.config.WorkTree, "link")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		specs   []domarkx.ResourceSpec
		pointer string
		says    string
	}{
		{"fine", []domarkx.ResourceSpec{spec(t, "a", `{"type": "fake", "id": "a", "n": 1}`), spec(t, "b", `{"type": "fake"}`)}, "", ""},
		{"unknown type", []domarkx.ResourceSpec{{ID: "x", Type: "odd", Config: parse(t, `{"type": "odd"}`)}}, "/execution_config/workspace/resources/0/type", "git-domarkx-plugin-odd"},
		{"unknown key", []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{"what": 1}`)}, "/execution_config/workspace/resources/1/what", "expected one of path, token, n"},
		{"wrong type", []domarkx.ResourceSpec{spec(t, "a", `{"n": "x"}`)}, "/execution_config/workspace/resources/0/n", "expected"},
		{"same id", []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "a", `{}`)}, "/execution_config/workspace/resources/1/id", "expected another"},
		{"paths apart", []domarkx.ResourceSpec{spec(t, "a", `{"path": "src"}`), spec(t, "b", `{"path": "src2"}`), spec(t, "c", `{}`), spec(t, "d", `{}`)}, "", ""},
		{"same path", []domarkx.ResourceSpec{spec(t, "a", `{"path": "src"}`), spec(t, "b", `{"path": "./x/../src/"}`)}, "/execution_config/workspace/resources/1/path", `of resource "b" and path "src" of resource "a"`},
		{"path in path", []domarkx.ResourceSpec{spec(t, "a", `{"path": "src/a"}`), spec(t, "b", `{}`), spec(t, "c", `{"path": "."}`)}, "/execution_config/workspace/resources/2/path", `of resource "c" and path "src/a" of resource "a"`},
		{"path by case", []domarkx.ResourceSpec{spec(t, "a", `{"path": "Src"}`), spec(t, "b", `{"path": "src/b"}`)}, "/execution_config/workspace/resources/1/path", "lies in the other"},
		{"path by a link", []domarkx.ResourceSpec{spec(t, "a", `{"path": "real/new"}`), spec(t, "b", `{"path": "link/new/b"}`)}, "/execution_config/workspace/resources/1/path", "lies in the other"},
		{"odd id", []domarkx.ResourceSpec{spec(t, "../x", `{}`)}, "/execution_config/workspace/resources/0/id", "letters"},
	} {
		err := w.m.Check(t.Context(), c.specs)
		var at *syntax.Error
		if c.pointer == "" && err == nil {
			continue
		}
		if !errors.As(err, &at) || at.Pointer != c.pointer || !strings.Contains(at.Msg, c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestCallErrors(t *testing.T) {
	w := newWorld(t)
	w.config.Grace = 50 * time.Millisecond
	w.renew(w.store)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}, Timeout: 100 * time.Millisecond})
	call := func(id, tool, arguments, code, says string) {
		t.Helper()
		_, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), id, domarkx.Call{Tool: tool, Arguments: parse(t, arguments)}))
		var e *domarkx.ToolError
		if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, says) {
			t.Errorf("%s: %v, expected %s and %q", tool, err, code, says)
		}
	}
	call("c", "get", `{}`, domarkx.CodeNoResource, `"a", "b"`)
	call("a", "nil", `{}`, domarkx.CodeUnknownTool, "set")
	call("a", "set", `{"text": 1}`, domarkx.CodeInvalid, "/arguments/text")
	call("a", "set", `{"txt": "x"}`, domarkx.CodeInvalid, "/arguments/txt")
	call("a", "panic", `{}`, domarkx.CodeBroken, "as requested")
	call("a", "wait", `{}`, domarkx.CodeTimeout, "100ms")
	call("a", "wait", `{"timeout": 0.01}`, domarkx.CodeTimeout, "10ms")
	w.set(l, "a", "still there")
	call("b", "hang", `{}`, domarkx.CodeTimeout, "did not stop")
	call("b", "get", `{}`, domarkx.CodeBroken, "does not answer")
	if _, err := l.Commit(t.Context()); err == nil {
		t.Error("committed while a plugin was still running")
	}
	close(w.p.hang)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), "b", domarkx.Call{Tool: "get", Arguments: jsonvalue.ObjectValue()})); err == nil || time.Now().After(deadline) {
			if err != nil {
				t.Error(err)
			}
			break
		}
	}
	if _, _, err := l.Run(t.Context(), plugintest.MayRun(l.Name(), "cobol", "x")); !strings.Contains(err.Error(), `only text`) {
		t.Error(err)
	}
	if id, _, err := l.Run(t.Context(), plugintest.MayRun(l.Name(), "text", "code")); id != "a" || err != nil || w.get(l, "a") != "code" {
		t.Error(id, err)
	}
}

func TestSecrets(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"token": "x${TOKEN}y$${Z}"}`)}})
	r, err := l.Call(t.Context(), plugintest.MayCall(l.Name(), "a", domarkx.Call{Tool: "token", Arguments: jsonvalue.ObjectValue()}))
	if err != nil || r.Value.Text() != "xsecret of TOKENy${Z}" {
		t.Error(r.Value.Text(), err)
	}
	w.commit(l, "1")
	filepath.WalkDir(w.config.Dir, func(path string, d os.DirEntry, _ error) error {
		if data, _ := os.ReadFile(path); strings.Contains(string(data), "secret of") {
			t.Errorf("%q holds the secret", path)
		}
		return nil
	})
	if _, err := w.try(t.Context(), "t", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"token": "${NONE}"}`)}}); err == nil || !strings.Contains(err.Error(), "NONE") {
		t.Error(err)
	}
	if i, err := w.m.Instances(t.Context()); len(i) != 1 || err != nil {
		t.Errorf("what could not be made is an instance: %v, %v", i, err)
	}
}

func TestTurns(t *testing.T) {
	w := newWorld(t)
	specs := []domarkx.ResourceSpec{spec(t, "a", `{}`)}
	l := w.open("s", opening{Specs: specs})
	if _, err := w.try(t.Context(), "s", opening{NoWait: true}); !errors.Is(err, domarkx.ErrConflict) {
		t.Errorf("another has it: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := w.try(ctx, "s", opening{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting: %v", err)
	}
	opened := make(chan error)
	go func() {
		second, err := w.try(context.Background(), "s", opening{})
		if err == nil {
			err = second.Close(context.Background())
		}
		opened <- err
	}()
	w.set(l, "a", "first")
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Error(err)
	}
}

func TestCommitAndLoad(t *testing.T) {
	w := newWorld(t)
	l := w.open("s/ü", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`), spec(t, "b", `{}`)}})
	one := w.commit(l, "1")
	c, err := l.Commit(t.Context())
	if err != nil || c.Changed {
		t.Errorf("changed %v, %v", c.Changed, err)
	}
	w.set(l, "b", "two")
	c, err = l.Commit(t.Context())
	if err != nil || !c.Changed || c.Resources[0].Version != one.Resources[0].Version {
		t.Error(c, err)
	}
	c.Abort() // as if the ref had moved in the meantime: the change must stay
	if changed, err := l.Changed(t.Context()); !changed || err != nil {
		t.Error("an aborted commit left nothing changed", err)
	}
	l.Close(t.Context())
	w.renew(w.store)
	l = w.open("s/ü", opening{})
	if changed, _ := l.Changed(t.Context()); !changed {
		t.Error("an aborted commit left nothing changed for the next process")
	}
	two := w.commit(l, "2")
	if changed, _ := l.Changed(t.Context()); changed || l.Head() != "2" {
		t.Error("changed after the commit")
	}
	if err := l.Load(t.Context(), may(l, one), one); err != nil || w.get(l, "b") != "" {
		t.Error(err)
	}
	if err := l.Load(t.Context(), may(l, two), two); err != nil || w.get(l, "b") != "two" {
		t.Error(err)
	}
	bad := domarkx.Version{ID: "3", Resources: slices.Clone(two.Resources)}
	bad.Resources[1].Version = "none"
	if err := l.Load(t.Context(), may(l, bad), bad); !errors.Is(err, domarkx.ErrNotFound) || l.Head() != "2" {
		t.Error(err)
	}
	if changed, _ := l.Changed(t.Context()); !changed {
		t.Error("a failed load left nothing changed")
	}
	if err := l.Load(t.Context(), may(l, two), two); err != nil || l.Unfinished() != nil || w.get(l, "b") != "two" {
		t.Error(err, l.Unfinished())
	}
	changed, err := l.Reconfigure(t.Context(), plugintest.MayOpen(l.Name(), []domarkx.ResourceSpec{spec(t, "c", `{}`), spec(t, "b", `{}`)}))
	if !changed || err != nil {
		t.Error(changed, err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "torn-a")); err != nil {
		t.Errorf("a was not torn down: %v", err)
	}
	three := w.commit(l, "3")
	if three.Resources[0].ID != "c" || three.Resources[1].ID != "b" {
		t.Error(three.Resources)
	}
	if err := l.Load(t.Context(), may(l, two), two); err != nil || w.get(l, "b") != "two" || w.get(l, "a") != "" || len(l.Specs()) != 2 {
		t.Error(err)
	}
}

// TestDiffers uses a plugin that cannot say whether anything changed.
func TestDiffers(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	differs := func(expected bool) {
		t.Helper()
		if got, err := l.Differs(t.Context()); got != expected || err != nil {
			t.Errorf("differs %v, %v", got, err)
		}
	}
	differs(true)
	w.set(l, "a", "x")
	w.commit(l, "1")
	differs(false)
	known, err := filepath.Glob(filepath.Join(w.config.Dir, "*", "*", "committed"))
	if err != nil || len(known) != 1 {
		t.Fatal(known, err)
	}
	if err := os.Remove(known[0]); err != nil {
		t.Fatal(err)
	}
	if changed, err := l.Changed(t.Context()); !changed || err != nil {
		t.Error("the plugin remembers", err)
	}
	differs(false)
	if changed, err := l.Changed(t.Context()); changed || err != nil {
		t.Error("looking taught the plugin nothing", err)
	}
	w.set(l, "a", "y")
	differs(true)
	differs(true)
	w.commit(l, "2")
	differs(false)
}

// TestAdopt simulates a process that was killed after the ref moved and before Committed.
func TestAdopt(t *testing.T) {
	w := newWorld(t)
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.commit(l, "1")
	w.set(l, "a", "x")
	c, err := l.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.Close(t.Context())
	tip := domarkx.Version{ID: "2", Parents: []string{"1"}, Resources: c.Resources}
	l = w.open("s", opening{Tip: &tip})
	if changed, err := l.Changed(t.Context()); changed || err != nil || l.Head() != "2" {
		t.Error(changed, err, l.Head())
	}
}

func TestPaths(t *testing.T) {
	w := newWorld(t)
	specs := []domarkx.ResourceSpec{spec(t, "a", `{"path": "data"}`)}
	l := w.open("s", opening{Specs: specs})
	w.set(l, "a", "mine")
	tip := w.commit(l, "1")
	data, err := os.ReadFile(filepath.Join(w.config.WorkTree, "data"))
	if string(data) != "mine" || err != nil {
		t.Error(string(data), err)
	}
	w.set(l, "a", "not committed")
	second := w.open("t", opening{Specs: specs})
	if got := w.get(second, "a"); got != "not committed" {
		t.Errorf("the private copy of a path holds %q", got)
	}
	w.set(second, "a", "other")
	if w.get(l, "a") != "not committed" {
		t.Error("a private copy works in place")
	}
	w.set(l, "a", "mine")
	if w.get(l, "a") != "mine" || len(w.warns) != 1 {
		t.Errorf("two workspaces share a path; warned %q", w.warns)
	}
	fork := w.open("f", opening{Tip: &tip, Private: true})
	w.set(fork, "a", "forked")
	if w.get(l, "a") != "mine" {
		t.Error("a fork works in place")
	}
	l.Close(t.Context())
	second.Close(t.Context())
	fork.Close(t.Context())
	if err := os.RemoveAll(w.config.Dir); err != nil { // as on another machine with the same work tree
		t.Fatal(err)
	}
	l = w.open("s", opening{Tip: &tip})
	w.set(l, "a", "in place")
	if data, _ := os.ReadFile(filepath.Join(w.config.WorkTree, "data")); string(data) != "in place" {
		t.Errorf("what equals the tip is not worked on in place: %q", data)
	}
	l.Close(t.Context())
	if err := os.RemoveAll(w.config.Dir); err != nil {
		t.Fatal(err)
	}
	l = w.open("s", opening{Tip: &tip})
	if got := w.get(l, "a"); got != "mine" {
		t.Errorf("the private copy holds %q", got)
	}
	if data, _ := os.ReadFile(filepath.Join(w.config.WorkTree, "data")); string(data) != "in place" {
		t.Errorf("what differs from the tip was overwritten: %q", data)
	}
	l.Close(t.Context())
	if err := errors.Join(os.RemoveAll(w.config.Dir), os.Remove(filepath.Join(w.config.WorkTree, "data"))); err != nil {
		t.Fatal(err)
	}
	w.open("s", opening{Tip: &tip})
	if data, err := os.ReadFile(filepath.Join(w.config.WorkTree, "data")); string(data) != "mine" {
		t.Errorf("where there was nothing is now %q, %v", data, err)
	}
}

func TestAllowed(t *testing.T) {
	w := newWorld(t)
	w.config.Limits = func() (plugins.Limits, error) {
		return plugins.Limits{Allow: domarkx.Allow{DSNs: []string{"db://u:${TOKEN}@h", "${NONE}"}, URLs: []string{"https://${TOKEN}@h/"}}}, nil
	}
	w.renew(w.store)
	w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	if !slices.Equal(w.p.allow.DSNs, []string{"db://u:secret of TOKEN@h", "${NONE}"}) || !slices.Equal(w.p.allow.URLs, []string{"https://secret of TOKEN@h/"}) {
		t.Error(w.p.allow)
	}
}

// TestBrokenFirst opens resources whose first one cannot be created.
func TestBrokenFirst(t *testing.T) {
	w := newWorld(t)
	specs := []domarkx.ResourceSpec{spec(t, "a", `{"token": "broken"}`), spec(t, "b", `{}`)}
	for range 2 {
		if l, err := w.try(t.Context(), "s", opening{Specs: specs}); err == nil || !strings.Contains(err.Error(), "broken token") {
			t.Fatal(l, err)
		}
	}
	specs[0] = spec(t, "a", `{}`)
	w.set(w.open("s", opening{Specs: specs}), "a", "mended")
}

// TestReconfigureBroken reconfigures a workspace with resources that cannot be created.
func TestReconfigureBroken(t *testing.T) {
	w := newWorld(t)
	specs := []domarkx.ResourceSpec{spec(t, "a", `{}`)}
	l := w.open("s", opening{Specs: specs})
	w.set(l, "a", "x")
	w.commit(l, "1")
	for _, broken := range [][]domarkx.ResourceSpec{
		{specs[0], spec(t, "b", `{"token": "broken"}`)},
		{spec(t, "b", `{"token": "broken"}`), specs[0]},
		{spec(t, "a", `{"token": "broken"}`)},
	} {
		if _, err := l.Reconfigure(t.Context(), plugintest.MayOpen(l.Name(), broken)); err == nil || !strings.Contains(err.Error(), "broken token") {
			t.Error(err)
		}
		l.Close(t.Context())
		l = w.open("s", opening{Specs: specs})
		if changed, err := l.Changed(t.Context()); changed || err != nil {
			t.Errorf("what could not be changed is %v, %v", changed, err)
		}
		if _, err := l.Reconfigure(t.Context(), plugintest.MayOpen(l.Name(), specs)); err != nil || w.get(l, "a") != "x" {
			t.Error(err)
		}
		if c, err := l.Commit(t.Context()); err != nil || c.Changed || len(c.Resources) != 1 {
			t.Errorf("%v, %v", c, err)
		}
	}
}

// TestWorkTrees opens a resource from two work trees of one repository.
func TestWorkTrees(t *testing.T) {
	w := newWorld(t)
	first, second := w.config.WorkTree, t.TempDir()
	w.config.WorkTrees = func() ([]string, error) { return []string{first, second}, nil }
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "data"}`)}})
	w.set(l, "a", "mine")
	w.commit(l, "1")
	l.Close(t.Context())
	w.config.WorkTree = second
	w.renew(w.store)
	l = w.open("s", opening{})
	if changed, err := l.Changed(t.Context()); changed || err != nil || w.get(l, "a") != "mine" {
		t.Error("a resource is not where it was made", err)
	}
	l.Close(t.Context())
	if err := os.Rename(filepath.Join(first, "data"), filepath.Join(second, "data")); err != nil { // with the whole work tree
		t.Fatal(err)
	}
	w.set(w.open("s", opening{}), "a", "moved")
	if data, err := os.ReadFile(filepath.Join(second, "data")); string(data) != "moved" {
		t.Error("a resource did not move with its work tree", err)
	}
}

func TestInstances(t *testing.T) {
	w := newWorld(t)
	l := w.open("team/s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "x")
	v := w.commit(l, "1")
	l.Close(t.Context())
	if err := w.m.Rename(t.Context(), "team/s", "S"); err != nil {
		t.Fatal(err)
	}
	if err := w.m.Fork(t.Context(), plugintest.MayLoad("S", v, permit.Private), v); !errors.Is(err, domarkx.ErrExists) {
		t.Error(err)
	}
	if err := w.m.Fork(t.Context(), plugintest.MayLoad("f", v, permit.Private), v); err != nil {
		t.Fatal(err)
	}
	instances, err := w.m.Instances(t.Context())
	if err != nil || len(instances) != 2 || instances[0].Name != "S" || instances[0].Head != "1" || !instances[1].Private || instances[1].Interrupted {
		t.Errorf("%+v, %v", instances, err)
	}
	l = w.open("S", opening{Existing: true})
	if w.get(l, "a") != "x" {
		t.Error("renaming lost the state")
	}
	l.Close(t.Context())
	if _, err := w.try(t.Context(), "none", opening{Existing: true}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Error(err)
	}
	temporary := w.open("S", opening{Temporary: true, Tip: &v})
	w.set(temporary, "a", "replayed")
	temporary.Close(t.Context())
	for _, name := range []string{"S", "f", "none"} {
		if err := w.m.TearDown(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(w.config.Dir); len(left) > 1 {
		t.Error(left)
	}
}
