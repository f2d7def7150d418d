//go:build unix

package mountd

import "golang.org/x/sys/unix"

// mayWrite reports whether this user can create files in a directory.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }
