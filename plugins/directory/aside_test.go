package directory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/directory"
)

func TestWhatAKillLeaves(t *testing.T) {
	top, note := t.TempDir(), filepath.Join(t.TempDir(), "aside")
	const left, users = "sub/.domarkx-abcdefghijklmnopqrstuvwxyz", "sub/.domarkx-zyxwvutsrqponmlkjihgfedcba"
	put := func(path, content string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	is := func(name string, want bool) {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(top, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	open := func() *directory.Files {
		t.Helper()
		f, err := directory.OpenFiles(top, nil, note)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(note); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the note: %v", err)
		}
		return f
	}
	for _, name := range []string{left, users, "a"} {
		put(filepath.Join(top, name), "x")
	}
	outside := filepath.Join(filepath.Dir(top), ".domarkx-outsideoutsideoutside12")
	put(outside, "x")
	defer os.Remove(outside)
	for _, noted := range []string{"", "a", "sub", left[:len(left)-1], "../" + filepath.Base(outside), "sub/../a", "none/" + filepath.Base(left)} {
		put(note, noted)
		open().Close()
		is("a", true)
		is(left, true)
		is(users, true)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	put(note, left)
	f := open()
	defer f.Close()
	is(left, false)
	is(users, true)
	arguments, err := jsonvalue.ParseValue([]byte(`{"path": "a", "content": "` + strings.Repeat("b", 10) + `"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Execute(t.Context(), domarkx.Call{Tool: "write_file", Arguments: arguments}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(note); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the note of temporary files: %v", err)
	}
}
