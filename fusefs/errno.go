package fusefs

import (
	"context"
	"errors"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
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

// Errno returns the errno(3) of an error, 0 for nil. An error of this program has the
// number that the table above gives it, an error of a system call keeps its number, and
// any other error is EIO.
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
