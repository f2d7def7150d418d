package local

import (
	"fmt"
	"os"
)

// Stamp returns a text that differs after a file was written or replaced.
func Stamp(info os.FileInfo) string {
	return fmt.Sprintf("%d:%d:%d", info.Size(), info.ModTime().UnixNano(), changeTime(info))
}
