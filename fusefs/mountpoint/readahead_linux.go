package mountpoint

import (
	"os"
	"path/filepath"
	"strconv"
)

// ReadAhead lets the kernel read up to n bytes ahead of a sequential reader of the mount.
// The default is 128 KiB, whatever the server requests, and only an administrator may
// change it; other users keep the default.
func ReadAhead(dir string, n int) {
	if top, ok, _ := topmostNow(dir); ok {
		_ = os.WriteFile(filepath.Join("/sys/class/bdi", top.Device, "read_ahead_kb"), strconv.AppendInt(nil, int64(n>>10), 10), 0)
	}
}
