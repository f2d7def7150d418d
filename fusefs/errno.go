package fusefs

import (
	"context"
	"errors"
	"syscall"

	"github.com/domarkx/domarkx"
)

// errnos maps errors of this program to error numbers.
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

// Errno returns the error number for an error, or 0 for nil. An error from a system call
// keeps its number. Unknown errors are I/O errors.
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
