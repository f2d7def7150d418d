//go:build linux || darwin

package versions

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	firstWindow = 16        // contents that are pushed after the second miss in a folder
	maxWindow   = 512       // … and after many
	maxPush     = 256 << 10 // bytes of a content that is pushed
	maxPushed   = 16 << 20  // bytes that are pushed at once
)

const (
	maxFolders = 8 // folders that are read before they are listed
	readers    = 2 // that do so at once
)

// A pusher puts the contents of the files that a program will probably read next
// into the kernel's cache: those that follow in a folder of which it has read two.
// That saves a message, and a change of process, for each. If the next one is too large
// for that, it is read before it is wanted. So are the folders that follow in a folder of
// which two were listed.
type pusher struct {
	fs    *FS
	queue chan push
	lists chan *node
	ended chan struct{}
	stop  func()
	work  sync.WaitGroup

	// guarded by FS.mu
	sweeps int       // folders of which several files were read, one soon after the other
	swept  time.Time // when the last one began
}

type push struct {
	folder      *node
	from, count int
}

func newPusher(f *FS) *pusher {
	p := &pusher{fs: f, queue: make(chan push, 16), lists: make(chan *node, 4*maxFolders), ended: make(chan struct{})}
	p.stop = sync.OnceFunc(func() {
		close(p.ended)
		p.work.Wait()
	})
	return p
}

func (p *pusher) start(s *fuse.Server) {
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

// read reads folders before they are listed.
func (p *pusher) read() {
	for {
		select {
		case n := <-p.lists:
			// Who lists it is told what is wrong.
			_, _ = p.fs.list(context.Background(), n)
		case <-p.ended:
			return
		}
	}
}

// listed notes that the kernel lists a folder.
func (p *pusher) listed(n *node) {
	f := p.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	in := n.parent
	if n.kind != inside || in.kind != inside {
		return
	}
	n.listed = true
	if in.folders++; in.folders < 2 {
		return
	}
	siblings := in.listing.nodes
	for i, left := n.slot+1, maxFolders; i < len(siblings) && left > 0; i++ {
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

// missed notes that the kernel asked for a part of a content, and whether that is the
// first and the last.
func (p *pusher) missed(n *node, first, last bool) {
	f := p.fs
	f.mu.Lock()
	defer f.mu.Unlock()
	folder := n.parent
	n.cached = n.cached || last
	if !first {
		return
	}
	if folder.kind != inside {
		return
	}
	if folder.misses++; folder.pushing || folder.misses < 2 && !p.sweeping() {
		return
	}
	p.sweeps, p.swept = p.sweeps+1, time.Now()
	folder.window = min(max(firstWindow, 2*folder.window), maxWindow)
	select {
	case p.queue <- push{folder, n.slot + 1, folder.window}:
		folder.pushing = true
	default:
	}
}

// sweeping reports whether somebody reads one folder after the other. What he reads
// of the next one first is not all that he will read. f.mu is held.
func (p *pusher) sweeping() bool {
	if time.Since(p.swept) > time.Second {
		p.sweeps = 0
	}
	return p.sweeps >= 3
}

// push pushes what follows in a folder.
func (p *pusher) push(s *fuse.Server, next push) {
	f, l := p.fs, next.folder.listing
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
			continue // who reads it is told
		}
		if s.InodeNotifyStoreCache(n.id, 0, data) == fuse.ENOSYS {
			return // and folder.pushing stays
		}
	}
	f.mu.Lock()
	next.folder.pushing = false
	f.mu.Unlock()
}

// isCached reports whether the kernel has a content of a folder.
func (p *pusher) isCached(l *listing, i int) bool {
	p.fs.mu.Lock()
	defer p.fs.mu.Unlock()
	return l.nodes[i] != nil && l.nodes[i].cached
}

func (p *pusher) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
