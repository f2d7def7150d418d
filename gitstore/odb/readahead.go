package odb

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A readAhead reads of a pack what follows, while somebody reads one object after the
// other, so that the disk works while they are unpacked. The kernel reads ahead of a
// mapping too, but only when a page that it has marked for that is touched: several
// readers at once, and pages that are mapped before they are touched, hide that from it. Pages
// that it is told to have read (madvise, readahead) are single ones, which cost more
// than what that saves: so what is read here is thrown away.
type readAhead struct {
	mu      sync.Mutex
	last    int64 // where what was read last begins, or the farthest of several
	run     int64 // bytes that were read one after the other
	next    int64 // where the file is read next
	until   int64
	running bool
	over    bool
	work    sync.WaitGroup
}

const (
	aheadPiece  = 256 << 10
	aheadMost   = 8 << 20  // bytes before they are wanted
	aheadFrom   = 1 << 20  // bytes in a row after which it begins
	aheadGap    = 4 << 20  // bytes: objects that are read this close to each other count as sequential
	aheadObject = 16 << 10 // bytes: smaller objects do not count
)

// note notes that an object of a size is read, which begins at an offset of the file.
func (a *readAhead) note(file string, at, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at < a.last-aheadGap || at > a.last+aheadGap {
		a.run, a.last = 0, at
	}
	a.last = max(a.last, at)
	if a.run += size; a.run < aheadFrom {
		return
	}
	if a.until = a.last + aheadMost; a.next < a.last || a.next > a.until {
		a.next = a.last
	}
	if a.running || a.over || a.until-a.next < aheadMost/2 {
		return
	}
	a.running = true
	a.work.Go(func() { a.read(file) })
}

// read reads until it is far enough ahead. What cannot be read, who wants it is told.
func (a *readAhead) read(file string) {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
	}
	to, sinkErr := newSink()
	if sinkErr == nil {
		defer to.Close()
	}
	err = errors.Join(err, sinkErr)
	for {
		a.mu.Lock()
		at := a.next
		if errors.Is(err, io.EOF) {
			at = a.until
		} else if err != nil {
			a.over = true
		}
		if a.over || at >= a.until {
			a.running = false
			a.mu.Unlock()
			return
		}
		a.next += aheadPiece
		a.mu.Unlock()
		err = to.read(f, at, aheadPiece)
	}
}

// stop ends it for good.
func (a *readAhead) stop() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.work.Wait()
}
