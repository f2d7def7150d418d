package mountd_test

import (
	"runtime"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

// TestServeWhileReading checks that GOMAXPROCS is derived from the processor limit of a
// container, unless the user set it.
func TestServeWhileReading(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for said, want := range map[string]int{"": 7, "5": 5} {
		t.Setenv("GOMAXPROCS", said)
		runtime.GOMAXPROCS(5)
		if mountd.ServeWhileReading(); runtime.GOMAXPROCS(0) != want {
			t.Errorf("told %q: %d, want %d", said, runtime.GOMAXPROCS(0), want)
		}
	}
}
