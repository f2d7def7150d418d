package filesystem_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/filesystem"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

func TestObserved(t *testing.T) {
	env := domarkx.Env{Dir: t.TempDir(), WorkTree: t.TempDir(), Config: parse(t, `{"path": ".", "observe": true, "ignored": false}`)}
	file := filepath.Join(env.WorkTree, "a")
	if err := errors.Join(os.WriteFile(file, []byte("one"), 0o600), os.WriteFile(filepath.Join(env.WorkTree, ".gitignore"), []byte("*.o"), 0o600),
		os.WriteFile(filepath.Join(env.WorkTree, "x.o"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	r, err := filesystem.New().Open(t.Context(), env)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	for _, c := range []domarkx.Call{
		{Tool: "write_file", Arguments: parse(t, `{"path": "b", "content": ""}`)}, {Tool: "edit_file", Arguments: parse(t, `{"path": "a", "old_text": "one", "new_text": ""}`)},
		{Tool: "move", Arguments: parse(t, `{"from": "a", "to": "b"}`)}, {Tool: "delete", Arguments: parse(t, `{"path": "a"}`)},
	} {
		var refused *domarkx.ToolError
		if _, err := r.Execute(t.Context(), c); !errors.As(err, &refused) || refused.Code != domarkx.CodeRefused {
			t.Errorf("%s: %v", c.Tool, err)
		}
	}
	if got, err := r.Execute(t.Context(), domarkx.Call{Tool: "read_file", Arguments: parse(t, `{"path": "a"}`)}); err != nil || got.Value.JSON() != `{"content":"one"}` {
		t.Errorf("read_file: %s, %v", got.Value.JSON(), err)
	}
	m := plugintest.NewMemory()
	w, err := m.Begin(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	version, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	top, err := m.Top(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	if files, err := m.Directory(t.Context(), top.ID); err != nil || len(files) != 2 {
		t.Errorf("the version has %v, %v", files, err)
	}
	if err := os.WriteFile(file, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := r.Changed(t.Context()); changed || err != nil {
		t.Errorf("changed %t, %v", changed, err)
	}
	if err := r.Load(t.Context(), m, version); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(file); string(data) != "two" || err != nil {
		t.Errorf("loading a version wrote %q, %v", data, err)
	}
	env.Config = parse(t, `{"observe": true, "ignored": false}`)
	if _, err := filesystem.New().Open(t.Context(), env); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("without a path: %v", err)
	}
}
