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
	for _, c := range []struct {
		dir      string
		expected []string
	}{
		{plain, []string{plain, linked}},
		{linked, []string{plain, linked}},
		{bare, []string{ofBare}},
		{ofBare, []string{ofBare}},
	} {
		tops, err := discover(t, c.dir).WorkTrees(t.Context())
		if err != nil || !slices.Equal(tops, c.expected) {
			t.Errorf("%q: %q, %v", c.dir, tops, err)
		}
	}
}
