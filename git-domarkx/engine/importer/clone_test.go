package importer_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/openpocket"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with the helpers of these tests.
type clone struct{ *enginetest.Clone }

func newClone(t *testing.T) *clone {
	return keepingHomes(enginetest.New(t))
}

func keepingHomes(opened *enginetest.Clone) *clone {
	c := &clone{opened}
	c.KeepHomes(openpocket.Keeper{Store: c.Store, Env: c.Env,
		Vacant: func(ctx context.Context, name string) error { return c.CheckVacant(ctx, "", name) }})
	return c
}

const hi = "## user\n\nHi\n"

// names returns the names of the sessions in a result.
func names(result importer.Result) []string {
	all := []string{}
	for _, saved := range result.Sessions {
		all = append(all, saved.Name)
	}
	slices.Sort(all)
	return all
}
