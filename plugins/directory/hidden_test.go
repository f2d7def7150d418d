package directory_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
)

// TestHidden calls every tool with every path to hidden files.
func TestHidden(t *testing.T) {
	top := t.TempDir()
	for name, content := range map[string]string{".git/config": "secret", ".git/hooks/x": "secret", "sub/mnt/file": "secret", "sub/plain": "plain", "linked/.git": "secret"} {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"git": ".git", "config": ".git/config", "hook": ".git/hooks/new", "sub/up": "..", "sub/round": "up/git/hooks/../hooks/new", "sub/deep": "../.git/hooks", "gone": t.TempDir(),
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := directory.OpenFiles(top, []string{filepath.Join(top, ".git"), filepath.Join(top, "sub/mnt"), filepath.Join(top, "linked/.git"), filepath.Join(top, "none"), filepath.Join(top, "gone")}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	try := func(tool string, arguments ...string) (string, error) {
		v := jsonvalue.ObjectValue()
		for i := 0; i < len(arguments); i += 2 {
			v = v.With(arguments[i], jsonvalue.StringValue(arguments[i+1]))
		}
		r, _, err := f.Execute(t.Context(), domarkx.Call{Tool: tool, Arguments: v})
		return r.Value.JSON(), err
	}
	refused := func(tool string, arguments ...string) {
		t.Helper()
		var e *domarkx.ToolError
		if got, err := try(tool, arguments...); !errors.As(err, &e) || e.Code != domarkx.CodeRefused {
			t.Errorf("%s %q: %s, %v", tool, arguments, got, err)
		}
	}
	for _, path := range []string{".git/config", "git/config", "config", "./sub/../.git/config", "sub/up/.git/config", "sub/up/git/config", "sub/deep/x", "hook", "sub/round", "linked/.git", "sub/mnt/file", "none", "none/x"} {
		refused("read_file", "path", path)
		refused("write_file", "path", path, "content", "x")
		refused("edit_file", "path", path, "old_text", "secret", "new_text", "x")
		refused("search", "path", path, "pattern", ".")
		refused("move", "from", "sub/plain", "to", strings.TrimSuffix(path, "/config")+"/moved")
	}
	for _, path := range []string{".git", "git", "sub/mnt", "sub/deep", "sub/up/.git"} {
		refused("list_dir", "path", path)
		refused("search", "path", path, "pattern", ".")
	}
	for _, path := range []string{".git", ".git/config", "git/config", "sub/up/git/hooks", "sub", "sub/mnt", "linked", "linked/.git", "gone"} {
		refused("delete", "path", path)
		refused("move", "from", path, "to", "moved")
	}
	if got, err := try("list_dir", "path", "sub/up"); err != nil || strings.Contains(got, `{"name":".git"`) || !strings.Contains(got, "linked") {
		t.Errorf("list_dir: %s, %v", got, err)
	}
	if got, err := try("search", "pattern", "secret|plain"); err != nil || strings.Contains(got, "secret") || !strings.Contains(got, "sub/plain") {
		t.Errorf("search: %s, %v", got, err)
	}
	for _, path := range []string{"git", "hook"} { // the links themselves belong to the resource
		if got, err := try("delete", "path", path); err != nil {
			t.Errorf("delete %s: %s, %v", path, got, err)
		}
	}
	for _, name := range []string{".git/config", ".git/hooks/x", "sub/mnt/file", "linked/.git"} {
		if data, err := os.ReadFile(filepath.Join(top, name)); string(data) != "secret" {
			t.Errorf("%s is %q, %v", name, data, err)
		}
	}
}
