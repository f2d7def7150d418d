package cover

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Impossible reports whether an error says that no file can be covered here: this process
// may not, the disk is none of this machine, or the system cannot. All others may be about
// one file, or about this moment.
func Impossible(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) ||
		errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EROFS)
}

// Attributes are what a file shows to programs.
type Attributes struct {
	Permissions uint32
	Owner       uint32 // the user and the group
	Size        int64  // bytes
	Date        int64  // all of its times that can be set, Unix seconds
}

// A Place is a file in a mount, which has no other name.
type Place struct {
	Parent uint64 // the number under which the kernel knows its folder, of generation 1
	Name   string
	Inode  uint64
}

// A Mount is where a FUSE file system is mounted.
type Mount struct {
	// Dir returns the folder that it is on, which changes when one above is renamed.
	Dir          func() (string, error)
	Major, Minor uint32 // its device
}

// suffix ends the names of files that cover others. By it they are known in the mount
// table.
const suffix = ".cover"

// Is reports whether a mount whose root in its file system is known from the mount table
// is one of this package.
func Is(root string) bool { return strings.HasSuffix(strings.TrimSuffix(root, "//deleted"), suffix) }
