package plugins_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx"
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
	w.open("around", plugins.Options{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "sub"}`)}})
	for path, want := range map[string]error{"sub/.git": domarkx.ErrInvalid, "sub/.git/hooks": domarkx.ErrInvalid, "sub/.gitignored": nil} {
		l, err := w.m.Open(t.Context(), "in "+path, plugins.Options{Specs: []domarkx.ResourceSpec{spec(t, "a", `{"path": "`+path+`"}`)}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, expected %v", path, err, want)
		}
		if err == nil {
			l.Close(t.Context())
		}
	}
}
