package fusefs

import (
	"fmt"
	"strings"
)

// A User is a process that keeps a mount from being unmounted.
type User struct {
	PID     int
	Command string   // as it was started, cut when long
	Uses    []string // what it uses, such as "working directory" or "open file sessions/a.md"
}

// A BusyError says that a mount is in use. The mount is as it was.
type BusyError struct {
	Dir   string
	Users []User // may be empty: other users' processes cannot be seen
}

// Error names everybody who uses the mount.
func (e *BusyError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q is in use", e.Dir)
	for _, u := range e.Users {
		fmt.Fprintf(&b, "\n  process %d (%s): %s", u.PID, u.Command, strings.Join(u.Uses, ", "))
	}
	if len(e.Users) == 0 {
		b.WriteString(", by a process that this user cannot see")
	}
	return b.String()
}
