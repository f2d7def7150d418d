package domarkx

import (
	"errors"
	"fmt"
	"strings"
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

// A SyntaxError describes an error in a document: its position, and what was expected there.
type SyntaxError struct {
	Path    string // as the user named it; "" when unknown
	Line    int    // from 1; 0 when unknown
	Column  int    // from 1, in Unicode code points; 0 when unknown
	Pointer string // JSON pointer (RFC 6901) of the offending value; "" when none
	Msg     string // what is wrong and what was expected
	Err     error  // the error that errors.Is finds, or nil
}

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// Error returns PATH:LINE:COLUMN: MESSAGE, without the parts that are unknown.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, "%d:", e.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Pointer != "" {
		b.WriteString(e.Pointer + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Position returns the line and the column (from 1, in Unicode code points) of a
// byte offset in data; an offset past the end counts as the end.
func Position(data []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(data)))
	line, start := 1, 0
	for i, c := range data[:offset] {
		if c == '\n' {
			line++
			start = i + 1
		}
	}
	column = 1
	for range string(data[start:offset]) {
		column++
	}
	return line, column
}
