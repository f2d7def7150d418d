package dirversion

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A leftOut is a set of paths that is safe for concurrent use.
type leftOut struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (l *leftOut) add(at string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paths == nil {
		l.paths = map[string]bool{}
	}
	l.paths[at] = true
}

func (l *leftOut) has(at string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths[at]
}

func (l *leftOut) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(maps.Keys(l.paths))
}

// begin forgets what the last walk left out.
func (f *Directory) begin() {
	f.observe.begin(true)
	f.large = leftOut{}
}

// warnOfLarge warns of files that are too large for a version.
func (f *Directory) warnOfLarge() {
	if paths := f.large.sorted(); len(paths) > 0 {
		f.report(fmt.Sprintf("left out of the version, because they have more than %d bytes (git config domarkx.limit.file): %s", f.maxSize, listed(paths)))
	}
}

// largeFiles returns the files that are too large for a version.
func (f *Directory) largeFiles() []domarkx.LeftOut {
	var list []domarkx.LeftOut
	for _, path := range f.large.sorted() {
		list = append(list, domarkx.LeftOut{Path: path, Reason: ReasonLarge})
	}
	return list
}

// longRead is how long a commit reads before it says what.
const longRead = 5 * time.Second

// reportLong says which file is being read if the scan takes long. The caller must stop the timer.
func (s *scan) reportLong() *time.Timer {
	return time.AfterFunc(longRead, func() {
		if at := s.reading.Load(); at != nil {
			s.f.report(fmt.Sprintf("still reading files for a version, now %s", quoted(*at)))
		}
	})
}
