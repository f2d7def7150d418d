package object_test

import (
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// newWriter returns a writer to an empty repository, and a function that stores its objects and returns a
// reader of the repository as another process sees it.
func newWriter(t *testing.T) (*object.Writer, func() object.Reader) {
	t.Helper()
	dir := filepath.Join(gittest.Init(t), ".git")
	open := func() *odb.Database {
		db, err := odb.Open(dir+"/objects", oid.SHA1)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return db
	}
	db := open()
	batch := db.Begin()
	t.Cleanup(batch.Abort)
	store := func() object.Reader {
		t.Helper()
		if err := batch.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := batch.Settle(); err != nil {
			t.Fatal(err)
		}
		return object.NewReader(open())
	}
	return object.NewWriter(object.NewReader(db), batch), store
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
