//go:build linux

package fusefs

// For the tests of what needs no mount.
var (
	ParseMountinfo    = parseMountinfo
	StatusNumber      = statusNumber
	ParseSnapshotName = parseSnapshotName
	SnapshotName      = snapshotName
	ParseMessageName  = parseMessageName
	MessageName       = messageName
	FirstComponents   = firstComponents
	CallerOf          = callerOf
)

// A Mounted is a line of the mount table.
type Mounted = mounted

// NewMounted returns one.
func NewMounted(dir, kind, source, device string) Mounted {
	return mounted{dir, kind, source, device}
}

// MountedOn returns where it is.
func MountedOn(m Mounted) string { return m.dir }

// MountedDevice returns its device.
func MountedDevice(m Mounted) string { return m.device }
