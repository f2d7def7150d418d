package trust_test

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with the helpers of these tests.
type clone struct{ *enginetest.Clone }

func newClone(t *testing.T) *clone { return &clone{enginetest.New(t)} }
