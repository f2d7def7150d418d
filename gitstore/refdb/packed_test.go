package refdb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// TestLeftPacked removes a packed reference after somebody else's git was killed, and only its lock was removed: git alone would
// refuse that for ever.
func TestLeftPacked(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 1)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "pack-refs", "--all")
	if err := os.WriteFile(filepath.Join(dir, ".git", "packed-refs.new"), []byte("# pack-refs"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := update(t, refs, refdb.Change{Ref: session("a"), Old: ids[0]}); err != nil {
		t.Fatal(err)
	}
	if id, ok, err := refs.Read(session("a")); ok || err != nil {
		t.Errorf("it is still there: %q, %v", id, err)
	}
	none(t, filepath.Join(dir, ".git"))
}
