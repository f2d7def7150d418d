package beneath

import (
	"errors"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// ErrMount reports that a path leads into another mount.
var ErrMount = errors.New("mount point")

// An Identity identifies a file on this machine.
type Identity struct{ dev, Ino uint64 }

// A Stat is the result of stat(2).
type Stat struct {
	Kind domarkx.FileType // 0 for a socket or an unknown type
	Mode uint32           // 07777
	Identity
	Links        uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	Major, Minor uint32
}

// Same reports whether both are the same file, unchanged as far as stat shows.
func (s Stat) Same(t Stat) bool {
	return s.Kind == t.Kind && s.Mode == t.Mode && s.Ino == t.Ino && s.Size == t.Size &&
		s.Mtime == t.Mtime && s.Ctime == t.Ctime && s.Major == t.Major && s.Minor == t.Minor
}

// Moved reports whether both are the same file, unchanged except for its name. Renaming changes the
// ctime.
func (s Stat) Moved(t Stat) bool {
	t.Ctime = s.Ctime
	return s.Same(t)
}

// Timestamps have a resolution: at most 10 ms in kernels, two seconds on file systems that
// store whole seconds.
const (
	Tick       = 20 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// Racy reports whether a change right after now might not change the stat. A change shows in
// the ctime, which nobody can set; it may lie in the future.
func (s Stat) Racy(now time.Time) bool {
	changed := s.Ctime
	if changed == 0 { // the system has no ctime
		changed = s.Mtime
	}
	step := Tick
	if s.Mtime%int64(time.Second) == 0 && s.Ctime%int64(time.Second) == 0 {
		step = coarseStep
	}
	return changed > now.Add(-step).UnixNano()
}
