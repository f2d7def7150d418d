//go:build unix

package external

import "syscall"

// nonblock keeps the opening of a FIFO from waiting.
const nonblock = syscall.O_NONBLOCK
