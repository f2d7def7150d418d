// Package shorttest makes the tests of a short run quick (go test -short).
package shorttest

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// enough is the free space, in bytes, that a directory in memory needs to be used. The
// containers of Docker have 64 MiB unless told otherwise.
const enough = 1 << 30

// Main runs the tests of a package and returns the exit code. In a short run their temporary
// directories are in memory if the system has such a file system: these programs sync every file
// that they write, and their tests wait longer for a disk than for anything else. The full run
// has them on the disk. A directory that TMPDIR names is used in either run. A short run also
// collects garbage less often, for which there is enough memory. m is the testing.M, or has it:
// its Run is called when TMPDIR is set.
func Main(m interface{ Run() int }) int {
	flag.Parse()
	if testing.Short() && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if !testing.Short() || os.Getenv("TMPDIR") != "" || !hasMemory(shared) {
		return m.Run()
	}
	dir, err := os.MkdirTemp(shared, "test") // short, for the paths of sockets
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil { // as that of the system, for what tests run as another user
		return m.Run()
	}
	os.Setenv("TMPDIR", dir)
	return m.Run()
}
