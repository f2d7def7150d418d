package fusefs

import (
	"context"
	"errors"
	"syscall"

	"github.com/domarkx/domarkx"
)

// errnos says which error a program sees for which of ours.
var errnos = []struct {
	err   error
	errno syscall.Errno
}{
	{domarkx.ErrNotFound, syscall.ENOENT},
	{domarkx.ErrExists, syscall.EEXIST},
	{domarkx.ErrInvalid, syscall.EINVAL},
	{domarkx.ErrConflict, syscall.EBUSY},
	{domarkx.ErrReadOnly, syscall.EROFS},
	{domarkx.ErrUnsupported, syscall.ENOTSUP},
	{domarkx.ErrCorrupt, syscall.EIO},
	{context.Canceled, syscall.EINTR},
	{context.DeadlineExceeded, syscall.ETIMEDOUT},
}

// Errno returns the error number that a program sees for an error; 0 for nil. An
// error that stems from a system call keeps its number, one that nobody knows is
// an I/O error.
func Errno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	for _, e := range errnos {
		if errors.Is(err, e.err) {
			return e.errno
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}
