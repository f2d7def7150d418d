//go:build !linux

package refdb

import "time"

// livingGit returns a process that does not hold locks for long, since this system's processes cannot be listed here: any
// lock file may belong to a running git.
func (r *Refs) livingGit(time.Time) *owner { return &owner{name: "another git"} }

// bootTime returns the zero time: on this system it is unknown.
func bootTime() time.Time { return time.Time{} }
