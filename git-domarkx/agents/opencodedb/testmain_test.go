package opencodedb_test

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

func TestMain(m *testing.M) { os.Exit(shorttest.Main(m)) }
