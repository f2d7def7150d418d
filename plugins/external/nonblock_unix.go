//go:build unix

package external

import "syscall"

// nonblock makes opening a FIFO return at once.
const nonblock = syscall.O_NONBLOCK
