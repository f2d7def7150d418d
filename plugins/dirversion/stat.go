package dirversion

import (
	"time"

	"github.com/domarkx/domarkx"
)

// A stat is what stat(2) tells of a file.
type stat struct {
	kind domarkx.FileType // 0 for a socket and what is unknown
	mode uint32           // 07777
	identity
	nlink        uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
	major, minor uint32
}

// same reports whether both are the same file, unchanged as far as stat can tell.
func (s stat) same(t stat) bool {
	return s.kind == t.kind && s.mode == t.mode && s.ino == t.ino && s.size == t.size &&
		s.mtime == t.mtime && s.ctime == t.ctime && s.major == t.major && s.minor == t.minor
}

// Timestamps move in steps: of at most 10 ms in kernels, of two seconds on file
// systems without parts of seconds.
const (
	fineStep   = 20 * time.Millisecond
	coarseStep = 2100 * time.Millisecond
)

// racy reports whether a change right after now might leave the stat as it is. A change
// shows in the ctime, which nobody sets; a file may say that it is from the future.
func (s stat) racy(now time.Time) bool {
	changed := s.ctime
	if changed == 0 { // there is none
		changed = s.mtime
	}
	step := fineStep
	if s.mtime%int64(time.Second) == 0 && s.ctime%int64(time.Second) == 0 {
		step = coarseStep
	}
	return changed > now.Add(-step).UnixNano()
}
