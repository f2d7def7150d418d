//go:build linux

package fusefs

// For the tests of what needs no mount.
var (
	StatusNumber      = statusNumber
	ParseSnapshotName = parseSnapshotName
	SnapshotName      = snapshotName
	CallerOf          = callerOf
)
