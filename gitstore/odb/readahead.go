package odb

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A readAhead reads the part of a pack ahead that a sequential reader will need next, so that the
// disk works while objects are decompressed. The kernel also reads ahead of a mapping, but only
// when a specially marked page is accessed; several concurrent readers, and pages that are mapped in
// advance, prevent that. Asking the kernel to read pages (madvise, readahead) works page by
// page and costs more than it saves. Therefore the data is read and discarded.
type readAhead struct {
	mu      sync.Mutex
	last    int64 // the highest offset read recently
	run     int64 // bytes read sequentially
	next    int64 // next offset to read ahead
	until   int64
	running bool
	over    bool
	work    sync.WaitGroup
}

const (
	aheadPiece  = 256 << 10
	aheadMost   = 8 << 20  // bytes to read ahead
	aheadFrom   = 1 << 20  // sequential bytes after which reading ahead begins
	aheadGap    = 4 << 20  // bytes: reads this close to each other count as sequential
	aheadObject = 16 << 10 // bytes: smaller objects do not count
)

// note records that an object of that size at an offset of the file is being read.
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

// read reads until it is far enough ahead. It ignores errors: the reader of the object will get
// them.
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

func (a *readAhead) stop() {
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.work.Wait()
}
