package fusefs

import (
	"os"
	"path/filepath"
	"strconv"
)

// readAhead lets the kernel read up to n bytes of a mount ahead of who reads a file from
// end to end. It begins with 128 KiB, whatever the server asks for, and only the system's
// administrator may change that; for others it stays.
func readAhead(dir string, n int) {
	all, err := mounts()
	if err != nil {
		return
	}
	if top, ok := topmost(all, dir); ok {
		_ = os.WriteFile(filepath.Join("/sys/class/bdi", top.device, "read_ahead_kb"), strconv.AppendInt(nil, int64(n>>10), 10), 0)
	}
}
