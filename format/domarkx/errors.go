package domarkx

import (
	"errors"
	"fmt"
)

// The errors by which callers can branch, with [errors.Is].
var (
	// ErrNotFound reports that a session, snapshot, message or file does not exist.
	ErrNotFound = errors.New("not found")
	// ErrNoSession and ErrNoWorkspace report that no session or workspace has a name. Both match ErrNotFound.
	ErrNoSession   = fmt.Errorf("%w", ErrNotFound)
	ErrNoWorkspace = fmt.Errorf("%w", ErrNotFound)
	// ErrExists reports a name that is already in use.
	ErrExists = errors.New("already exists")
	// ErrConflict reports that something else changed the same object at the same time.
	ErrConflict = errors.New("changed meanwhile")
	// ErrCorrupt reports that stored data differs from the data that was written.
	ErrCorrupt = errors.New("corrupt")
	// ErrReadOnly reports a repository or file that cannot be written.
	ErrReadOnly = errors.New("read-only")
	// ErrUnsupported reports data in an unknown format or version.
	ErrUnsupported = errors.New("not supported")
	// ErrInvalid reports an unacceptable name or argument.
	ErrInvalid = errors.New("invalid")
)
