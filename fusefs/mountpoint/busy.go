package mountpoint

import (
	"fmt"
	"strings"
)

// A User is a process that uses a mount and so prevents an unmount.
type User struct {
	PID     int
	Command string   // command line, truncated
	Uses    []string // what it uses, such as "working directory" or "open file sessions/a.md"
}

// A BusyError reports that a mount is in use. The mount has not changed.
type BusyError struct {
	Dir   string
	Users []User // empty if only processes of other users, which are invisible, use it
}

// Error lists the users of the mount.
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
