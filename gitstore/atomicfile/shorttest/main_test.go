package shorttest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

var given = os.Getenv("TMPDIR")

func TestMain(m *testing.M) { os.Exit(shorttest.Main(m)) }

func TestTemporaryDirectory(t *testing.T) {
	inMemory := strings.HasPrefix(t.TempDir(), "/dev/shm/test")
	if given != "" && os.Getenv("TMPDIR") != given {
		t.Errorf("TMPDIR is %q, expected %q", os.Getenv("TMPDIR"), given)
	}
	if inMemory && (given != "" || !testing.Short()) {
		t.Error("the directory is in memory, expected the disk")
	}
	if inMemory != (os.Getenv("TMPDIR") != given) {
		t.Errorf("in memory: %v, but TMPDIR is %q", inMemory, os.Getenv("TMPDIR"))
	}
}
