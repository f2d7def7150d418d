package gitcmd_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestWorkTrees(t *testing.T) {
	plain := gittest.Init(t)
	gittest.Run(t, plain, "commit", "-q", "--allow-empty", "-m", "one")
	place := filepath.Dir(gittest.Init(t))
	linked := filepath.Join(place, "with\nnewline")
	gittest.Run(t, plain, "worktree", "add", "-q", "-b", "linked", linked)
	bare := filepath.Join(place, "bare.git")
	gittest.Run(t, "", "clone", "-q", "--bare", plain, bare)
	ofBare := filepath.Join(place, "of bare")
	gittest.Run(t, bare, "worktree", "add", "-q", "-b", "of-bare", ofBare)
	gittest.Run(t, plain, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", bare, "module")
	module, ofModule := filepath.Join(plain, "module"), filepath.Join(place, "of module")
	gittest.Run(t, module, "worktree", "add", "-q", "-b", "of-module", ofModule)
	separate := filepath.Join(place, "separate")
	gittest.Run(t, "", "init", "-q", "--separate-git-dir", filepath.Join(place, "elsewhere"), separate)
	for _, c := range []struct {
		dir      string
		expected []string
	}{
		{plain, []string{plain, linked}},
		{linked, []string{plain, linked}},
		{bare, []string{ofBare}},
		{ofBare, []string{ofBare}},
		{module, []string{module, ofModule}},
		{ofModule, []string{module, ofModule}},
		{separate, []string{separate}},
	} {
		tops, err := discover(t, c.dir).WorkTrees(t.Context())
		if err != nil || !slices.Equal(tops, c.expected) {
			t.Errorf("%q: %q, %v", c.dir, tops, err)
		}
	}
}
