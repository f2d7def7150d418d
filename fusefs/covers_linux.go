package fusefs

import (
	"fmt"

	"github.com/domarkx/domarkx/fusefs/cover"
)

// mountedAt returns the mount on a folder.
func mountedAt(dir string) (cover.Mount, bool) {
	all, err := mounts()
	if err != nil {
		return cover.Mount{}, false
	}
	at := cover.Mount{Dir: dir}
	top, ok := topmost(all, dir)
	if ok {
		_, err = fmt.Sscanf(top.device, "%d:%d", &at.Major, &at.Minor)
	}
	return at, ok && err == nil
}
