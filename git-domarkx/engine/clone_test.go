package engine_test

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/gitstore"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with the helpers of these tests.
type clone struct{ *enginetest.Clone }

func newClone(t *testing.T) *clone { return &clone{enginetest.New(t)} }

func openClone(t *testing.T, dir string, kept *enginetest.Settings) *clone {
	return &clone{enginetest.Open(t, dir, kept)}
}

// clear removes a session, so that its name is free.
func (c *clone) clear(name string) {
	c.T.Helper()
	err := c.Store.Update(c.T.Context(), "rm", func(tx *gitstore.Tx) error { return tx.ToTrash(c.T.Context(), name) })
	if err != nil {
		c.T.Fatal(err)
	}
}
