package directory_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
)

// openTemp opens a directory that contains a link to the outside and one to the inside.
func openTemp(t *testing.T) (*directory.Files, string) {
	t.Helper()
	top := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for path, content := range map[string]string{
		filepath.Join(top, "a.txt"): "one two two\nline aa\n", filepath.Join(top, "sub/b.txt"): "beta\n",
		filepath.Join(top, "bin"): "\xff\x00x", outside: "outside",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(top, "out")), os.Symlink("sub/b.txt", filepath.Join(top, "in")),
		os.Symlink("loop", filepath.Join(top, "loop"))); err != nil {
		t.Fatal(err)
	}
	root, err := directory.OpenFiles(top, []string{filepath.Join(top, "sub/own"), filepath.Join(top, ".git"), filepath.Join(top, "mnt"), filepath.Dir(outside)}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		root.Close()
		if data, _ := os.ReadFile(outside); string(data) != "outside" {
			t.Errorf("outside there is now %q", data)
		}
	})
	return root, top
}

func TestTools(t *testing.T) {
	root, top := openTemp(t)
	for _, c := range []struct {
		tool, arguments, want string // want is the result, or the code of the error
	}{
		{"read_file", `{"path": "a.txt"}`, `{"content":"one two two\nline aa\n"}`},
		{"read_file", `{"path": "./sub/../a.txt"}`, `{"content":"one two two\nline aa\n"}`},
		{"read_file", `{"path": "in"}`, `{"content":"beta\n"}`},
		{"read_file", `{"path": "bin"}`, `{"content_base64":"/wB4"}`},
		{"read_file", `{"path": "out"}`, domarkx.CodeRefused},
		{"read_file", `{"path": "../outside"}`, domarkx.CodeRefused},
		{"read_file", `{"path": "/etc/passwd"}`, domarkx.CodeRefused},
		{"read_file", `{"path": ""}`, domarkx.CodeInvalid},
		{"read_file", `{"path": "a\u0000b"}`, domarkx.CodeInvalid},
		{"read_file", `{"path": "sub"}`, domarkx.CodeInvalid},
		{"read_file", `{"path": "loop"}`, domarkx.CodeInvalid},
		{"read_file", `{"path": "a.txt/x"}`, domarkx.CodeInvalid},
		{"read_file", `{"path": "none"}`, domarkx.CodeNotFound},
		{"list_dir", `{"path": "sub"}`, `{"entries":[{"name":"b.txt","type":"file","size":5}]}`},
		{"list_dir", `{"path": "a.txt"}`, domarkx.CodeInvalid},
		{"search", `{"pattern": "(?i)BETA"}`, `{"matches":[{"path":"sub/b.txt","line":1,"text":"beta"}],"binary_files_skipped":1}`},
		{"search", `{"pattern": "^line", "path": "a.txt"}`, `{"matches":[{"path":"a.txt","line":2,"text":"line aa"}]}`},
		{"search", `{"pattern": "("}`, domarkx.CodeInvalid},
		{"search", `{"pattern": "x", "path": "out"}`, domarkx.CodeRefused},
		{"edit_file", `{"path": "a.txt", "old_text": "two", "new_text": "x"}`, domarkx.CodeInvalid},
		{"edit_file", `{"path": "a.txt", "old_text": "three", "new_text": "x"}`, domarkx.CodeInvalid},
		{"edit_file", `{"path": "a.txt", "old_text": "one", "new_text": "1"}`, `{"bytes":18}`},
		{"write_file", `{"path": "out", "content": "x"}`, domarkx.CodeRefused},
		{"write_file", `{"path": "in", "content": "through"}`, `{"bytes":7}`},
		{"write_file", `{"path": "new/deep/f", "content": "ü"}`, `{"bytes":2}`},
		{"write_file", `{"path": "sub", "content": "x"}`, domarkx.CodeInvalid},
		{"write_file", `{"path": "a.txt/x", "content": "x"}`, domarkx.CodeInvalid},
		{"move", `{"from": "new", "to": "sub/new"}`, `{}`},
		{"move", `{"from": "sub", "to": "sub/new/x"}`, domarkx.CodeInvalid},
		{"move", `{"from": "a.txt", "to": "in"}`, domarkx.CodeInvalid},
		{"move", `{"from": "none", "to": "x"}`, domarkx.CodeNotFound},
		{"move", `{"from": "a.txt", "to": "../x"}`, domarkx.CodeRefused},
		{"delete", `{"path": "out"}`, `{}`},
		{"delete", `{"path": "sub"}`, `{}`},
		{"delete", `{"path": "sub"}`, domarkx.CodeNotFound},
		{"delete", `{"path": "."}`, domarkx.CodeRefused},
	} {
		arguments, err := jsonvalue.ParseValue([]byte(c.arguments))
		if err != nil {
			t.Fatal(err)
		}
		r, known, err := root.Execute(t.Context(), domarkx.Call{Tool: c.tool, Arguments: arguments})
		got := strings.ReplaceAll(strings.ReplaceAll(r.Value.JSON(), `": `, `":`), `, "`, `,"`)
		var e *domarkx.ToolError
		if errors.As(err, &e) {
			got = e.Code
		} else if err != nil {
			got = err.Error()
		}
		if !known || got != c.want {
			t.Errorf("%s %s: %s, expected %s (%v)", c.tool, c.arguments, got, c.want, err)
		}
	}
	info, err := os.Stat(filepath.Join(top, "a.txt"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("editing changed the mode: %v, %v", info.Mode(), err)
	}
	left, err := filepath.Glob(filepath.Join(top, ".domarkx-*"))
	if len(left) > 0 || err != nil {
		t.Error(left, err)
	}
}

// TestFileInTheWay checks that an error names the file that is in the way, not the argument.
func TestFileInTheWay(t *testing.T) {
	root, _ := openTemp(t)
	for _, c := range [][2]string{
		{"write_file", `{"path": "a.txt/x", "content": "x"}`}, {"write_file", `{"path": "a.txt/new/deep", "content": "x"}`},
		{"move", `{"from": "bin", "to": "a.txt/x/y"}`},
	} {
		arguments, err := jsonvalue.ParseValue([]byte(c[1]))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = root.Execute(t.Context(), domarkx.Call{Tool: c[0], Arguments: arguments})
		if want := `invalid: "a.txt" is no directory`; err == nil || err.Error() != want {
			t.Errorf("%s %s: %v, expected %s", c[0], c[1], err, want)
		}
	}
}

func TestLongFile(t *testing.T) {
	root, top := openTemp(t)
	long := strings.Repeat("ü", 1<<20)
	if err := os.WriteFile(filepath.Join(top, "long"), []byte("x"+long), 0o644); err != nil {
		t.Fatal(err)
	}
	r, _, err := root.Execute(t.Context(), domarkx.Call{Tool: "read_file", Arguments: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue("long"))})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Attachment.Close()
	head, _ := r.Value.Get("content")
	size, _ := r.Value.Get("bytes")
	whole, err := io.ReadAll(r.Attachment)
	if len(head.Text()) != 1<<20-1 || size.Text() != "2097153" || string(whole) != "x"+long || err != nil {
		t.Error(len(head.Text()), size.Text(), len(whole), err)
	}
}
