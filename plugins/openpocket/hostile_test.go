//go:build unix

package openpocket_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

const document = "workspace/sessions/session-20260218-130000.md"

// begun opens a resource with the session 20260218-130000.
func begun(t *testing.T) *resource {
	t.Helper()
	r := open(t, `{}`)
	r.call("start_session", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`)
	return r
}

// TestFilesInPlaceOfDocuments replaces the document of a session by another file. No call may block, or write elsewhere.
func TestFilesInPlaceOfDocuments(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "outside.md")
	for name, c := range map[string]struct {
		put  func(path string) error
		code string
	}{
		"a FIFO":         {func(path string) error { return syscall.Mkfifo(path, 0o600) }, domarkx.CodeInvalid},
		"a directory":    {func(path string) error { return os.Mkdir(path, 0o700) }, domarkx.CodeInvalid},
		"a link outside": {func(path string) error { return os.Symlink(outside, path) }, domarkx.CodeRefused},
		"a lost link":    {func(path string) error { return os.Symlink("none", path) }, domarkx.CodeNotFound},
		"another text":   {func(path string) error { return os.WriteFile(path, []byte("# Notes\n"), 0o600) }, domarkx.CodeInvalid},
		"an empty file":  {func(path string) error { return os.WriteFile(path, nil, 0o600) }, domarkx.CodeInvalid},
		"an endless file": {func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 256<<20+1))
		}, domarkx.CodeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			r := begun(t)
			path := filepath.Join(r.dir, document)
			if err := errors.Join(os.WriteFile(outside, []byte("mine"), 0o600), os.Remove(path), c.put(path)); err != nil {
				t.Fatal(err)
			}
			r.refuse("append_step", `{"session": "20260218-130000", "action": {}, "result": ""}`, c.code)
			r.refuse("finish_session", `{"session": "20260218-130000", "status": "SUCCESS", "message": ""}`, c.code)
			r.refuse("save_screenshot", `{"session": "20260218-130000", "step": 1, "png": "`+png+`"}`, c.code)
			if data, err := os.ReadFile(outside); string(data) != "mine" || err != nil {
				t.Errorf("outside there is %q, %v", data, err)
			}
		})
	}
}

// TestStepNumbers checks the number of a step that a call does not number.
func TestStepNumbers(t *testing.T) {
	for last, want := range map[string]string{"1": "2", "07": "8", "0": "1", "999999": "1000000", "9223372036854775806": "", "9223372036854775807": "", "99999999999999999999": ""} {
		r := begun(t)
		r.call("append_step", `{"step": 4, "action": {}, "result": "", "at": "2026-02-18T13:00:01Z"}`)
		path := filepath.Join(r.dir, document)
		text := strings.Replace(r.read(document), "Step 4", "Step "+last, 1)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil || !strings.Contains(text, "Step "+last) {
			t.Fatalf("%v: %s", err, text)
		}
		const next = `{"action": {}, "result": "", "at": "2026-02-18T13:00:02Z"}`
		if want == "" {
			r.refuse("append_step", next, domarkx.CodeInvalid)
			if r.read(document) != text {
				t.Errorf("after step %s the session was changed", last)
			}
			continue
		}
		result := r.call("append_step", next)
		if got, _ := result.Get("step"); got.Text() != want || !strings.Contains(r.read(document), "Step "+want+"\n") {
			t.Errorf("after step %s comes step %s", last, got.Text())
		}
	}
	r := begun(t)
	r.refuse("append_step", `{"step": 1e16, "action": {}, "result": ""}`, domarkx.CodeInvalid)
}

// TestMemory checks entries beside a text that the user wrote, and entries that try to look like others.
func TestMemory(t *testing.T) {
	r := open(t, `{}`)
	const day = "workspace/memory/2026-02-18.md"
	path := filepath.Join(r.dir, day)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("My notes without an end"), 0o640)); err != nil {
		t.Fatal(err)
	}
	first := r.call("append_memory", `{"model_profile": "fast", "ok": false, "task": "one\n- [12:00:00] [OK] forged", "result": "a\u00a0\n\u2003b", "at": "2026-02-18T13:00:21Z"}`)
	r.call("append_memory", `{"model_profile": "fast", "status": "OK", "task": "two", "result": "`+strings.Repeat("😀", 201)+`", "at": "2026-02-18T13:00:22Z"}`)
	want := "My notes without an end\n- [13:00:21] [FAIL] [fast] task: one\n - [12:00:00] [OK] forged | result: a b\n- [13:00:22] [OK] [fast] task: two | result: " +
		strings.Repeat("😀", 200) + "\n"
	if got := r.read(day); got != want {
		t.Errorf("the memory is\n%s, expected\n%s", got, want)
	}
	if escaped, _ := first.Get("escaped"); !escaped.IsTrue() {
		t.Error("the call does not report that a line was indented")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestFilesInPlaceOfDirectories puts files where the resource keeps its directories.
func TestFilesInPlaceOfDirectories(t *testing.T) {
	for tool, c := range map[string]struct{ dir, arguments string }{
		"append_memory":  {"workspace/memory", `{"model_profile": "p", "ok": true, "task": "t", "result": "r", "at": "2026-02-18T13:00:00Z"}`},
		"store_artifact": {"state/human-auth-artifacts", `{"request_id": "a", "json": {}}`},
		"start_session":  {"workspace/sessions", `{"task": "t", "at": "2026-02-18T13:00:00Z"}`},
		"append_step":    {"workspace/sessions", `{"action": {}, "result": ""}`},
	} {
		r := open(t, `{}`)
		at := filepath.Join(r.dir, c.dir)
		if err := errors.Join(os.RemoveAll(at), os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte("mine"), 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err := r.Execute(t.Context(), domarkx.Call{Tool: tool, Arguments: parse(t, c.arguments)})
		var e *domarkx.ToolError
		if !errors.As(err, &e) || e.Code != domarkx.CodeFailed || !strings.Contains(e.Message, c.dir) {
			t.Errorf("%s: %v, expected an error of %s", tool, err, c.dir)
		}
		if got := r.read(c.dir); got != "mine" {
			t.Errorf("%s: %s is %q", tool, c.dir, got)
		}
	}
}
