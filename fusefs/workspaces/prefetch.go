//go:build linux || darwin

package workspaces

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	firstWindow = 16        // contents to push after the second miss in a directory
	maxWindow   = 512       // contents to push after many misses
	maxPush     = 256 << 10 // bytes of the largest content to push
	maxPushed   = 16 << 20  // bytes of one push
)

const (
	maxDirectories = 8 // how many directories to read ahead
	readers        = 2 // goroutines that read directories
)

// A prefetcher pushes the contents of files into the kernel's cache before a program
// reads them: after two reads in a directory, it pushes the files that follow. This saves
// a message and a context switch for each. If the next file is too large to push, its
// content is read ahead. After two listings of sibling directories, it reads the
// directories that follow.
type prefetcher struct {
	fs    *FS
	queue chan push
	lists chan *node
	ended chan struct{}
	stop  func()
	work  sync.WaitGroup

	// guarded by FS.mu
	sweeps int       // pushes in quick succession
	swept  time.Time // when the last push was queued
}

type push struct {
	directory   *node
	from, count int
}

func newPrefetcher(f *FS) *prefetcher {
	p := &prefetcher{fs: f, queue: make(chan push, 16), lists: make(chan *node, 4*maxDirectories), ended: make(chan struct{})}
	p.stop = sync.OnceFunc(func() {
		close(p.ended)
		p.work.Wait()
	})
	return p
}

func (p *prefetcher) start(s *fuse.Server) {
	for range readers {
		p.work.Go(p.read)
	}
	p.work.Go(func() {
		for {
			select {
			case next := <-p.queue:
				p.push(s, next)
			case <-p.ended:
				return
			}
		}
	})
}

// read reads directories ahead of their listing.
func (p *prefetcher) read() {
	for {
		select {
		case n := <-p.lists:
			// The kernel's own listing reports the error.
			_, _ = p.fs.list(context.Background(), n)
		case <-p.ended:
			return
		}
	}
}

// noteListed records that the kernel lists a directory.
func (p *prefetcher) noteListed(n *node) {
	f := p.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	in := n.parent
	if n.kind != kindEntry || in.kind != kindEntry {
		return
	}
	n.listed = true
	if in.directories++; in.directories < 2 {
		return
	}
	siblings := in.listing.nodes
	for i, left := n.slot+1, maxDirectories; i < len(siblings) && left > 0; i++ {
		next := siblings[i]
		if next == nil || next.meta.mode != dirMode {
			continue
		}
		left--
		if next.listed || p.fs.kept.has(next.key) {
			continue
		}
		select {
		case p.lists <- next:
			next.listed = true
		default:
			return
		}
	}
}

// noteRead records that the kernel reads a part of a content; first and last report
// whether that is its first and its last part.
func (p *prefetcher) noteRead(n *node, first, last bool) {
	f := p.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	directory := n.parent
	n.cached = n.cached || last
	if !first {
		return
	}
	if directory.kind != kindEntry {
		return
	}
	if directory.misses++; directory.pushing || directory.misses < 2 && !p.sweeping() {
		return
	}
	p.sweeps, p.swept = p.sweeps+1, time.Now()
	directory.window = min(max(firstWindow, 2*directory.window), maxWindow)
	select {
	case p.queue <- push{directory, n.slot + 1, directory.window}:
		directory.pushing = true
	default:
	}
}

// sweeping reports whether a program reads one directory after another. In the next one,
// it will then read more than the first file. f.mu must be held.
func (p *prefetcher) sweeping() bool {
	if time.Since(p.swept) > time.Second {
		p.sweeps = 0
	}
	return p.sweeps >= 3
}

// push pushes the contents of the files that follow in a directory.
func (p *prefetcher) push(s *fuse.Server, next push) {
	f, l := p.fs, next.directory.listing
	room := int64(maxPushed)
	var buffer []byte
	follows := true
	for i, count := next.from, next.count; i < len(l.entries) && count > 0 && room > 0 && !p.over(); i++ {
		e := &l.entries[i]
		if e.slot != i || e.meta.mode&syscall.S_IFMT != syscall.S_IFREG || e.meta.size == 0 {
			continue
		}
		if e.meta.size > maxPush {
			if follows && !p.isCached(l, i) {
				f.contents.prepare(context.Background(), e.key)
			}
			follows = false
			continue
		}
		follows = false
		f.mu.Lock()
		n := l.nodes[i]
		skip := n == nil || n.cached
		if !skip {
			n.cached = true
		}
		f.mu.Unlock()
		if skip {
			continue
		}
		count--
		room -= e.meta.size
		if int64(cap(buffer)) < e.meta.size {
			buffer = make([]byte, max(e.meta.size, 64<<10))
		}
		data := buffer[:e.meta.size]
		if err := readWhole(context.Background(), f.config.Contents.Content, e.key, data); err != nil {
			continue // a read of the file reports the error
		}
		if s.InodeNotifyStoreCache(n.id, 0, data) == fuse.ENOSYS {
			return // the kernel cannot do this; directory.pushing stays set
		}
	}
	f.mu.Lock()
	next.directory.pushing = false
	f.mu.Unlock()
}

// isCached reports whether the kernel has the content of entry i.
func (p *prefetcher) isCached(l *listing, i int) bool {
	p.fs.mu.Lock()
	defer p.fs.mu.Unlock()
	return l.nodes[i] != nil && l.nodes[i].cached
}

func (p *prefetcher) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
