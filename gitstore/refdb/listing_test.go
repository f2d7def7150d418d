package refdb_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// TestListing checks that a list is the same one until a reference changes, whoever changes it.
func TestListing(t *testing.T) {
	dir := gittest.Init(t)
	ids := gittest.Commits(t, dir, 2)
	one, two := ids[0], ids[1]
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		if _, err := g.Run(t.Context(), nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	refs := refdb.Open(t.Context(), g)
	const prefix = "refs/domarkx/sessions/"
	var last *refdb.Listing
	for _, change := range [][]string{
		{"update-ref", prefix + "a", one},
		{"update-ref", prefix + "below/b", one},
		{"update-ref", prefix + "a", two},
		{"pack-refs", "--all"},
		{"update-ref", "-d", prefix + "below/b"},
		{"update-ref", prefix + "below/b", two},
	} {
		git(change...)
		changed, err := refs.Listing(prefix)
		if err != nil || changed == last {
			t.Errorf("after %q: the list of before, %v", change, err)
		}
		past := time.Now().Add(-time.Minute) // as if some time had passed
		err = filepath.WalkDir(filepath.Join(g.CommonDir, "refs"), func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, past, past) })
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(g.CommonDir, "packed-refs"), past, past); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if last, err = refs.Listing(prefix); err != nil {
			t.Fatal(err)
		}
		if again, err := refs.Listing(prefix); err != nil || again != last {
			t.Errorf("after %q: another list without a change, %v", change, err)
		}
	}
}
