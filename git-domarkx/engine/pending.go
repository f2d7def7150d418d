package engine

import "fmt"

// Pending is the status of a session that was left alone because a mount has a save of
// it that is not in the session yet.
const Pending = "pending"

// A PendingError reports that a mount acknowledged a save of a session which is not in
// the session, so that nothing can be done with the session yet.
type PendingError struct {
	Name   string
	Reason string // why the save is not in the session, and what to do
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("session %q: a save in the mount is not in it yet: %s", e.Name, e.Reason)
}
