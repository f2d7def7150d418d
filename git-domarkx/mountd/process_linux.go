package mountd

import (
	"bytes"
	"fmt"
	"os"
)

// stopped reports whether a process is stopped by a signal or a debugger.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(stat, ')') // the name before it can contain any character
	return i >= 0 && len(stat) > i+2 && (stat[i+2] == 'T' || stat[i+2] == 't')
}
