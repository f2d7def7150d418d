package odb

import (
	"errors"
	"io"
	"os"
	"sync"
)

// A readAhead reads the part of a pack that a sequential reader will need next, so that the disk works while objects
// are decompressed. The kernel reads ahead of a mapping too, but only when a specially marked page is accessed; with
// several concurrent readers, or pages that are mapped in advance, it does not. To ask the kernel for pages
// (madvise(2), readahead(2)) works page by page and costs more time than it saves. So a readAhead reads the data from
// the file and discards it.
type readAhead struct {
	mu      sync.Mutex
	last    int64 // highest offset that was read recently
	run     int64 // bytes read sequentially
	next    int64 // offset up to which data was read ahead
	until   int64
	running bool
	over    bool
	work    sync.WaitGroup
}

const (
	aheadPiece  = 256 << 10
	aheadMost   = 8 << 20  // bytes that are read ahead
	aheadFrom   = 1 << 20  // sequential bytes after which reading ahead begins
	aheadGap    = 4 << 20  // bytes: reads this close to each other count as sequential
	aheadObject = 16 << 10 // bytes: smaller objects do not count
)

// note records that an object of the given size is being read at an offset of the file.
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

// read reads until it is far enough ahead. It ignores errors, since the reader of the object gets them too.
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
