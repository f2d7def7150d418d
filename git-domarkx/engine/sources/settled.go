package sources

import (
	"io/fs"
	"time"
)

// IsSettled reports whether a file's last change is old enough that another change would alter
// its time.
func IsSettled(info fs.FileInfo) bool {
	const tick = 2 * time.Second // of FAT, the coarsest
	return time.Since(info.ModTime()) > tick
}
