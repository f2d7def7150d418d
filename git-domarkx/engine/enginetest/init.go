package enginetest

import (
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// Init creates an empty repository with a work tree.
func Init(t testing.TB, dir string) {
	t.Helper()
	gittest.Create(t, filepath.Join(dir, ".git"), "master", false)
}
