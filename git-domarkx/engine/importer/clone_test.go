package importer_test

import (
	"os"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with the helpers of these tests.
type clone struct{ *enginetest.Clone }

func newClone(t *testing.T) *clone {
	return &clone{enginetest.New(t)}
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
