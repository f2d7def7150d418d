package dirversion

import (
	"errors"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// errMount reports that a path leads into another mount.
var errMount = errors.New("mount point")

// An identity identifies a file on this machine.
type identity struct{ dev, ino uint64 }

// A stat is the result of stat(2).
type stat struct {
	kind domarkx.FileType // 0 for a socket or an unknown type
	mode uint32           // 07777
	identity
	nlink        uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	major, minor uint32
}

// same reports whether both are the same file, unchanged as far as stat shows.
func (s stat) same(t stat) bool {
	return s.kind == t.kind && s.mode == t.mode && s.ino == t.ino && s.size == t.size &&
		s.mtime == t.mtime && s.ctime == t.ctime && s.major == t.major && s.minor == t.minor
}

// moved reports whether both are the same file, unchanged except for its name. Renaming changes the
// ctime.
func (s stat) moved(t stat) bool {
	t.ctime = s.ctime
	return s.same(t)
}

// Timestamps have a resolution: at most 10 ms in kernels, two seconds on file systems that
// store whole seconds.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// racy reports whether a change right after now might not change the stat. A change shows in
// the ctime, which nobody can set; it may lie in the future.
func (s stat) racy(now time.Time) bool {
	changed := s.ctime
	if changed == 0 { // the system has no ctime
		changed = s.mtime
	}
	step := fineStep
	if s.mtime%int64(time.Second) == 0 && s.ctime%int64(time.Second) == 0 {
		step = coarseStep
	}
	return changed > now.Add(-step).UnixNano()
}
