package engine

import "fmt"

// Pending is the status of a session that was skipped because a mount has a save of it that is
// not yet in the session.
const Pending = "pending"

// A PendingError means that a mount acknowledged a save of a session that is not in the session
// yet, so that no other operation may change the session.
type PendingError struct {
	Name   string
	Reason string // why the save is not in the session, and what to do about it
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("session %q: a save in the mount is not in it yet: %s", e.Name, e.Reason)
}
