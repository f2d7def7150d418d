package checkout_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/checkout"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with versions of workspaces.
type clone struct {
	*enginetest.Clone
	checkouts *checkout.Manager
}

func newClone(t *testing.T) *clone {
	c := enginetest.New(t)
	return &clone{c, checkout.New(c.SessionManager, trust.New(c.Store, c.Env), c.Store)}
}

// A file is a file of a version. Its content is data, unless file has a target or is not a regular file.
type file = enginetest.VersionFile

func regular(path, data string, mode uint32) file {
	return file{Path: path, File: domarkx.File{Type: domarkx.Regular, Mode: mode}, Data: data}
}

func directory(path string, mode uint32) file {
	return file{Path: path, File: domarkx.File{Type: domarkx.Directory, Mode: mode}}
}

// version commits a version of the workspace w with one resource, which has these files.
func (c *clone) version(files ...file) domarkx.Version { return c.Version("w", nil, files...) }

// checkout writes a version to a directory.
func (c *clone) checkout(v domarkx.Version, dir string, yes bool) ([]string, error) {
	return c.checkouts.Checkout(c.T.Context(), checkout.Request{Of: engine.Revision{Name: "w", Message: -1}, Version: v, Dir: dir, Yes: yes})
}

func TestCheckout(t *testing.T) {
	c := newClone(t)
	v := c.version(directory("a", 0o750), regular("a/run.sh", "#!/bin/sh\n", 0o755), regular("b", "text\n", 0o640),
		enginetest.OtherFile("c", domarkx.Symlink, "a/run.sh"))
	for _, exists := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "new")
		if exists {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.Stat(dir)
		if left, err := c.checkout(v, dir, false); err != nil || len(left) > 0 {
			t.Fatalf("left out %q, %v", left, err)
		}
		if now, err := os.Stat(dir); exists && (err != nil || !os.SameFile(before, now)) {
			t.Error("an existing directory was replaced, so whoever works in it has lost it")
		}
		if data, err := os.ReadFile(filepath.Join(dir, "notes", "c")); string(data) != "#!/bin/sh\n" || err != nil {
			t.Errorf("through the link: %q, %v", data, err)
		}
		info, err := os.Stat(filepath.Join(dir, "notes", "a", "run.sh"))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o755 {
			t.Errorf("run.sh: %v, %v", info, err)
		}
		if names := namesBelow(t, filepath.Dir(dir)); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "checkout-") }) {
			t.Errorf("leftovers: %q", names)
		}
		var refused *engine.RefusedError
		if _, err := c.checkout(v, dir, true); !errors.As(err, &refused) || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("a second checkout to the same directory: %v", err)
		}
	}
}

// namesBelow returns the paths of all files below a directory.
func namesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		names = append(names, rel)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTargetIsRefused(t *testing.T) {
	c := newClone(t)
	v := c.version(regular("b", "text\n", 0o644))
	tests := []struct {
		name    string
		prepare func(dir string) error
		err     string
	}{
		{"a file", func(dir string) error { return os.WriteFile(dir, nil, 0o644) }, "is no directory"},
		{"a link to nothing", func(dir string) error { return os.Symlink("nowhere", dir) }, "leads nowhere"},
		{"with a file", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
		}, "is not empty"},
		{"with a link that is named like a leftover", func(dir string) error {
			return errors.Join(os.Mkdir(dir, 0o755), os.Symlink("/", filepath.Join(dir, ".domarkx-checkout-0123456789ab-1-x")))
		}, "symbolic link"},
		{"with a file beside a leftover", func(dir string) error {
			return errors.Join(os.MkdirAll(filepath.Join(dir, ".domarkx-checkout-0123456789ab-1-x"), 0o755), os.WriteFile(filepath.Join(dir, "x"), nil, 0o644))
		}, "other files beside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "to")
			if err := tt.prepare(dir); err != nil {
				t.Fatal(err)
			}
			before := namesBelow(t, filepath.Dir(dir))
			var refused *engine.RefusedError
			if _, err := c.checkout(v, dir, true); !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
			if now := namesBelow(t, filepath.Dir(dir)); !slices.Equal(now, before) {
				t.Errorf("%q became %q", before, now)
			}
		})
	}
}

// TestLeftoverIsRemoved begins with the directory that a killed checkout left.
func TestLeftoverIsRemoved(t *testing.T) {
	c := newClone(t)
	v := c.version(regular("b", "text\n", 0o644))
	dir := t.TempDir()
	stage := filepath.Join(dir, ".domarkx-checkout-"+v.ID[:12]+"-1-abc")
	half := filepath.Join(stage, "notes", "half")
	if err := errors.Join(os.MkdirAll(half, 0o755), os.WriteFile(filepath.Join(half, "x"), nil, 0o400), os.Chmod(half, 0o500)); err != nil {
		t.Fatal(err)
	}
	if left, err := c.checkout(v, dir, false); err != nil || len(left) > 0 {
		t.Fatalf("%q, %v", left, err)
	}
	if names := namesBelow(t, dir); !slices.Equal(names, []string{".", "notes", "notes/b"}) {
		t.Errorf("the directory has %q", names)
	}
}

// TestHazards checks out versions of somebody whom the user does not trust, and those of a trusted session, which
// can have come from somebody, too.
func TestHazards(t *testing.T) {
	tests := []struct {
		name  string
		files []file
		want  string // what the refusal names; "" for no refusal
		runs  string // what that of a trusted session names
	}{
		{"harmless", []file{regular("a", "x", 0o755), regular(".gitignore", "", 0o644)}, "", ""},
		{"set-user-id", []file{regular("su", "x", 0o4755)}, "set-id program notes/su", ""},
		{"set-group-id", []file{regular("sg", "x", 0o2755)}, "set-id program notes/sg", ""},
		{"set-group-id directory", []file{directory("d", 0o2755)}, "set-id directory notes/d", ""},
		{"capabilities", []file{{Path: "cap", File: domarkx.File{Type: domarkx.Regular, Mode: 0o755, Xattrs: []domarkx.Xattr{{Name: "security.capability", Value: []byte{1}}}}, Data: "x"}}, "program with capabilities notes/cap", ""},
		{"device", []file{{Path: "null", File: domarkx.File{Type: domarkx.CharDevice, Mode: 0o666, Major: 1, Minor: 3}}}, "notes/null", ""},
		{"repository", []file{directory("d", 0o755), directory("d/.git", 0o755)}, "nested repository notes/d/.git", ""},
		{"repository of git init", []file{directory("d", 0o755), directory("d/.git", 0o755), regular("d/.git/config", plainConfig, 0o644), directory("d/.git/hooks", 0o755),
			regular("d/.git/hooks/pre-push.sample", "x", 0o755)}, "nested repository notes/d/.git", ""},
		{"setting", []file{directory(".git", 0o755), regular(".git/CONFIG", plainConfig+"\tfsmonitor = true\n", 0o644)}, "nested repository notes/.git", `notes/.git/CONFIG (it sets "core.fsmonitor")`},
		{"config elsewhere", []file{directory(".git", 0o755), enginetest.OtherFile(".git/config", domarkx.Symlink, "../x")}, "notes/.git", "notes/.git/config (it is a symbolic link)"},
		{"large config", []file{directory(".git", 0o755), regular(".git/config", strings.Repeat("#", 65<<10), 0o644)}, "notes/.git", "notes/.git/config (it is unusually large)"},
		{"hook", []file{directory(".git", 0o755), directory(".git/hooks", 0o755), regular(".git/hooks/post-checkout", "x", 0o755)}, "notes/.git", "notes/.git/hooks/post-checkout (it is a hook)"},
		{"hooks elsewhere", []file{directory(".git", 0o755), enginetest.OtherFile(".git/hooks", domarkx.Symlink, "../x")}, "notes/.git", "notes/.git/hooks ("},
		{"bare repository with a setting", []file{regular("HEAD", "ref: x", 0o644), regular("config", "[include]\n\tpath = x\n", 0o644), directory("objects", 0o755), directory("refs", 0o755)}, "nested repository notes", `notes/config (it sets "[include")`},
		{"submodule", []file{directory("d", 0o755), directory("d/e", 0o755), regular("d/e/.git", "gitdir: ../.git/modules/e\n", 0o644)}, "notes/d/e/.git", ""},
		{"repository above", []file{directory("d", 0o755), regular("d/.git", "gitdir: ../../x\n", 0o644)}, "notes/d/.git", "notes/d/.git (it leads"},
		{"repository through a link", []file{directory("d", 0o755), enginetest.OtherFile("d/Link", domarkx.Symlink, "/x"), regular("d/.git", "gitdir: ../d/link/x\n", 0o644)}, "notes/d/.git", "notes/d/.git (it leads"},
		{"repository back from a link", []file{enginetest.OtherFile("a", domarkx.Symlink, "/x"), regular(".git", "gitdir: a/../b\n", 0o644)}, "notes/.git", "notes/.git (it leads"},
		{"link as repository", []file{enginetest.OtherFile(".git", domarkx.Symlink, "a")}, "notes/.git", "notes/.git (it leads"},
		{"no repository", []file{directory("d", 0o755), regular("d/config", "[include]", 0o644), directory("hooks", 0o755), regular("hooks/x", "x", 0o755)}, "", ""},
		{"repository of another case", []file{regular(".GIT", "gitdir: /x", 0o644)}, "nested repository notes/.GIT", "notes/.GIT (it leads"},
		{"bare repository", []file{directory("d", 0o755), regular("d/HEAD", "ref: x", 0o644), directory("d/objects", 0o755), directory("d/refs", 0o755)}, "nested repository notes/d", ""},
		{"bare repository with its data elsewhere", []file{directory("d", 0o755), regular("d/HEAD", "ref: x", 0o644), regular("d/commondir", "/x", 0o644)}, "nested repository notes/d", "notes/d/commondir (it leads"},
		{"half a repository", []file{directory("d", 0o755), regular("d/HEAD", "ref: x", 0o644), directory("d/refs", 0o755)}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			v := c.version(tt.files...)
			for _, want := range []string{tt.want, tt.runs} {
				dir := filepath.Join(t.TempDir(), "to")
				_, err := c.checkout(v, dir, false)
				c.Trusted("w", "## user\n\ntext\n")
				var refused *engine.RefusedError
				if want == "" {
					if errors.As(err, &refused) { // not every file system takes the capabilities
						t.Error(err)
					}
					continue
				}
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want one that names %s", err, want)
				}
				if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the refused checkout left %v", err)
				}
			}
		})
	}
}

// plainConfig is a config as Git writes it.
const plainConfig = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n[remote \"origin\"]\n\turl = ../x\n[branch \"a.b\"]\n\tremote = origin\n[core]\n"
