package project_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
)

// TestOddKeys: the place of each key is known, however it is spelled.
func TestOddKeys(t *testing.T) {
	for _, test := range []struct{ text, pointer, place string }{
		{"[plugins.\"a\\tb\"]\nx = 1\n", "/plugins/a\tb/x", "2:1"},
		{"[plugins.\"\\u00e9\"]\nx = 1\n", "/plugins/é/x", "2:1"},
		{"[plugins.\"\\U0001F600\"]\nx = 1\n", "/plugins/😀/x", "2:1"},
		{"[plugins.\"\\e\\x41\"]\nx = 1\n", "/plugins/\x1bA/x", "2:1"},
		{"[plugins.\"a/b~c\"]\nx = 1\n", "/plugins/a~1b~0c/x", "2:1"},
		{"[plugins.'a\\tb']\nx = 1\n", "/plugins/a\\tb/x", "2:1"},
		{"[plugins . p ]\n\n  x . y = 1\n", "/plugins/p/x/y", "3:7"},
		{"[plugins.p]\nx = \"\"\"\ny = 1\n\"\"\"\nz = 2\n", "/plugins/p/z", "5:1"},
		{"[plugins.p]\nx = '''\ny = '''''\nz = 2\n", "/plugins/p/z", "4:1"},
		{"[plugins.p]\nx = [\n 1, # one ]\n 2,\n]\nz = 2\n", "/plugins/p/x/1", "4:2"},
		{"[plugins.p]\nx = { y = { z = [ 1 ] } }\n", "/plugins/p/x/y/z/0", "2:19"},
		{"[[resources]]\ntype = \"a\"\n\n[[resources]]\ntype = \"b\"\n", "/resources/1/type", "5:1"},
	} {
		c, err := project.Parse([]byte(test.text))
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got := c.Error(test.pointer, "wrong", nil); !strings.HasPrefix(got.Error(), project.File+":"+test.place+": ") {
			t.Errorf("%q: %s is at %v, want %s", test.text, test.pointer, got, test.place)
		}
	}
}

// TestHostile: a file that is too large, too deep or no text is refused before it is parsed.
func TestHostile(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"brackets":         {"x = " + strings.Repeat("[", 10_000), "is nested too deep"},
		"tables":           {"x = " + strings.Repeat("{a=", 10_000), "is nested too deep"},
		"dotted keys":      {strings.Repeat("a.", 10_000) + "b = 1", "is nested too deep"},
		"large":            {"#" + strings.Repeat("x", 2<<20), "is larger than"},
		"not UTF-8":        {"# é\nx = \"\xff\"\n", ":2:6: is not UTF-8"},
		"half a character": {"# \xc3", ":1:3: is not UTF-8"},
		"half a string":    {"x = \"", ":1:"},
		"a key twice":      {"model = \"a\"\nmodel = \"b\"\n", ":2:1: "},
	} {
		_, err := project.Parse([]byte(test.text))
		var at *syntax.Error
		if !errors.As(err, &at) || !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %.200v, want %q", name, err, test.want)
		}
	}
	brackets := strings.Repeat("# [[[[ {{{{ a.b.c.d\n", 1000) + "x = \"" + strings.Repeat("[", 1000) + "\"\n"
	if _, err := project.Parse([]byte(brackets)); err != nil && strings.Contains(err.Error(), "nested") {
		t.Errorf("brackets in comments and strings: %v", err)
	}
}

// TestReadRefuses: only a regular file is read, and where there is none, nothing is configured.
func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, project.File)
	for _, top := range []string{"", dir, filepath.Join(dir, "none")} {
		if c, err := project.Read(top); err != nil || len(c.Resources) > 0 {
			t.Errorf("%q: %v, %v", top, c, err)
		}
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Read(dir); err == nil || !strings.Contains(err.Error(), project.File+":1:1: is no regular file") {
		t.Errorf("a directory: %v", err)
	}
	other := filepath.Join(dir, "other.toml")
	if err := errors.Join(os.Remove(path), os.WriteFile(other, []byte("[[resources]]\ntype = \"a\"\n"), 0o644), os.Symlink("other.toml", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := project.Read(dir); err == nil || !strings.Contains(err.Error(), "symbolic links are not followed") {
		t.Errorf("a link: %v", err)
	}
	if _, err := project.Read(other); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file instead of a work tree: %v", err)
	}
	if err := errors.Join(os.Remove(path), os.Rename(other, path)); err != nil {
		t.Fatal(err)
	}
	if c, err := project.Read(dir); err != nil || len(c.Resources) != 1 {
		t.Errorf("a file: %v, %v", c, err)
	}
}
