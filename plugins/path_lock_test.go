package plugins_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// TestForbiddenPathIsNoPrivateCopy checks that a forbidden path is refused even if another
// workspace works around it: a private copy would hide the error.
func TestForbiddenPathIsNoPrivateCopy(t *testing.T) {
	w := newWorld(t)
	w.config.Limits = func() (plugins.Limits, error) {
		return plugins.Limits{Forbidden: []string{filepath.Join(w.config.WorkTree, "sub/.git")}}, nil
	}
	w.renew(w.store)
	w.open("around", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "sub"}`)}})
	for path, want := range map[string]error{"sub/.git": domarkx.ErrInvalid, "sub/.git/hooks": domarkx.ErrInvalid, "sub/.gitignored": nil} {
		l, err := w.try(t.Context(), "in "+path, opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "`+path+`"}`)}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", path, err, want)
		}
		if err == nil {
			l.Close(t.Context())
		}
	}
}

// TestPathSpellings checks that a path is locked by the directory that it leads to, however two
// configs spell it, and that no message shows the value of a variable.
func TestPathSpellings(t *testing.T) {
	variables := map[string]string{"DIR": "projects", "UP": "projects/app/..", "LINK": "link", "SECRET": "s3cr3t-name"}
	for _, test := range []struct{ name, first, second string }{
		{"a variable", "projects", "${DIR}"},
		{"two variables", "${DIR}", "${UP}"},
		{"below", "${DIR}", "projects/app"},
		{"around", "projects/app", "./${DIR}/"},
		{"a link", "projects", "${LINK}"},
		{"secret", "${SECRET}", "${SECRET}/below"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			if err := os.Mkdir(filepath.Join(w.config.WorkTree, "projects"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("projects", filepath.Join(w.config.WorkTree, "link")); err != nil {
				t.Fatal(err)
			}
			w.config.Env = func(name string) (string, bool) { v, ok := variables[name]; return v, ok }
			w.renew(w.store)
			first, second := spec(t, "a", `{"path": "`+test.first+`"}`), spec(t, "b", `{"path": "`+test.second+`"}`)

			err := w.m.Check(t.Context(), []domarkx.ResourceSpec{first, second})
			if !errors.Is(err, domarkx.ErrInvalid) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("check of one workspace: %v", err)
			}
			_, err = w.try(t.Context(), "both", opening{Specs: []domarkx.ResourceSpec{first, second}})
			if !errors.Is(err, domarkx.ErrInvalid) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("one workspace: %v", err)
			}

			w.open("one", opening{Specs: []domarkx.ResourceSpec{first}})
			w.open("two", opening{Specs: []domarkx.ResourceSpec{second}})
			for name, private := range map[string]bool{"one": false, "two": true} {
				if i, err := w.m.Instance(t.Context(), name); err != nil || i.Resources[0].Private != private {
					t.Errorf("workspace %s: %+v, %v, expected private %v", name, i, err, private)
				}
			}
			if len(w.warns) != 1 || !strings.Contains(w.warns[0], "gets a private copy") || strings.Contains(w.warns[0], "s3cr3t") {
				t.Errorf("warnings: %q", w.warns)
			}
		})
	}
}

// TestLoadAtSpelledPath loads a version with a path that contains a variable. The user's files at
// this path must stay, even if the variable was not set at the first attempt.
func TestLoadAtSpelledPath(t *testing.T) {
	w := newWorld(t)
	set := false
	w.config.Env = func(string) (string, bool) { return "data", set }
	w.renew(w.store)
	path := filepath.Join(w.config.WorkTree, "data")
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := w.open("s", opening{Specs: []domarkx.ResourceSpec{spec(t, "a", `{}`)}})
	w.set(l, "a", "one")
	one := w.commit(l, "1")
	two := domarkx.Version{ID: "2", Resources: append(slices.Clone(one.Resources),
		domarkx.ResourceVersion{ResourceSpec: spec(t, "b", `{"path": "${DIR}"}`), Version: one.Resources[0].Version})}
	if err := l.Load(t.Context(), may(l, two), two); !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), "${DIR}") {
		t.Errorf("loaded without the variable: %v", err)
	}
	set = true
	if err := l.Load(t.Context(), may(l, two), two); err != nil || w.get(l, "b") != "one" {
		t.Errorf("loaded with the variable: %v", err)
	}
	if data, err := os.ReadFile(path); string(data) != "mine" || err != nil {
		t.Errorf("the user's file: %q, %v", data, err)
	}
}
