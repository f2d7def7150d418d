package version_test

import (
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
	"github.com/domarkx/domarkx/gitstore/version"
)

// git runs git in a repository and returns its output.
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	return gittest.Run(tb, dir, args...)
}

func newRepository(tb testing.TB) string {
	tb.Helper()
	return gittest.Init(tb, "--bare")
}

// open opens the versions in a bare repository.
func open(tb testing.TB, dir string) version.Reader {
	tb.Helper()
	db, err := odb.Open(dir+"/objects", oid.SHA1)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return version.NewReader(db)
}

// newStore creates a repository and returns its versions and its directory.
func newStore(tb testing.TB) (version.Reader, string) {
	tb.Helper()
	dir := newRepository(tb)
	return open(tb, dir), dir
}
