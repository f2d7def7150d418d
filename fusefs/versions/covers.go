//go:build linux || darwin

package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/fusefs/cover"
)

const (
	coverFrom   = 16 << 20
	maxCovers   = 32
	maxCovered  = 2 << 30
	coverMinAge = time.Minute
	lookedAfter = 10 * time.Second
	quiet       = 20 * time.Millisecond // that nobody waits for content, before some is unpacked
)

// coverer puts files of the disk over large ones that are probably read again: when
// the kernel has the content of a file in memory, the server sees no reading any more,
// and so that it was read to its end is all that it will know.
type coverer struct {
	CoverLimits
	folder *cover.Folder // nil for none
	fs     *FS
	queue  chan *node
	end    context.CancelFunc // nil until it has begun
	work   sync.WaitGroup
	waited atomic.Int64                // when somebody last wanted content, Unix nanoseconds
	off    atomic.Bool                 // it cannot be done here
	check  <-chan time.Time            // tells when to look after covers
	mount  atomic.Pointer[cover.Mount] // nil until it is mounted

	mu    sync.Mutex
	asked map[*node]int64 // how many bytes of a file the kernel has asked for

	turn   sync.Mutex // while covers come or go
	active []covered  // the oldest first; guarded by turn
}

// A covered is a file with another one over it.
type covered struct {
	place cover.Place
	by    *cover.File
	size  int64
	since time.Time
}

func newCoverer(f *FS, folder *cover.Folder, l CoverLimits) *coverer {
	c := &coverer{folder: folder, fs: f, queue: make(chan *node, 16), asked: map[*node]int64{}}
	c.CoverLimits = CoverLimits{cmp.Or(l.From, coverFrom), cmp.Or(l.Files, maxCovers), cmp.Or(l.Bytes, maxCovered), cmp.Or(l.MinAge, coverMinAge)}
	return c
}

// Mounted tells where the file system is mounted: from then on files may be covered.
func (f *FS) Mounted(at cover.Mount) { f.covers.mount.Store(&at) }

// Uncover takes away what was put over files, but what cannot be reached now. It may be
// put there again.
func (f *FS) Uncover() error {
	f.covers.turn.Lock()
	defer f.covers.turn.Unlock()
	return f.covers.uncover(func(covered) bool { return true })
}

func (c *coverer) start() {
	if c.folder == nil {
		return
	}
	var ctx context.Context
	ctx, c.end = context.WithCancel(context.Background())
	c.work.Go(func() { c.run(ctx) })
}

// stop ends the work. What covers files has gone with the mount, or goes with it.
func (c *coverer) stop() {
	if c.end == nil {
		return
	}
	c.end()
	c.work.Wait()
	c.turn.Lock()
	defer c.turn.Unlock()
	for _, is := range c.active {
		c.note("removing an unpacked file", is.by.Remove())
	}
	c.active = nil
}

// read notes that the kernel asks for a part of a file.
func (c *coverer) read(n *node, bytes int) {
	if c.folder == nil || c.off.Load() {
		return
	}
	c.waited.Store(time.Now().UnixNano())
	if n.meta.size < c.From || n.meta.links != 1 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked[n] += int64(bytes); c.asked[n] < n.meta.size || c.mount.Load() == nil {
		return
	}
	delete(c.asked, n)
	select {
	case c.queue <- n:
	default: // others are before it, and it may be read again
	}
}

// forget forgets a file that the kernel has forgotten.
func (c *coverer) forget(n *node) {
	if n.meta.size < c.From {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, n)
}

func (c *coverer) run(ctx context.Context) {
	check := time.NewTicker(min(lookedAfter, c.MinAge))
	defer check.Stop()
	c.check = check.C
	for {
		select {
		case <-ctx.Done():
			return
		case n := <-c.queue:
			c.consider(ctx, n)
		case <-c.check:
			c.tidy()
			if !c.none() && c.needed() {
				c.note("giving back room", c.fs.Uncover())
			}
		}
	}
}

// consider covers a file, if that can be done and there is room.
func (c *coverer) consider(ctx context.Context, n *node) {
	if c.off.Load() {
		return
	}
	err := c.cover(ctx, n)
	if cover.Impossible(err) { // neither can others
		c.off.Store(true)
		c.note("covering files", err)
		return
	}
	c.note("covering a file", err)
}

func (c *coverer) note(doing string, err error) {
	if err != nil {
		c.fs.config.Logger.Debug(doing, "err", err)
	}
}

func (c *coverer) cover(ctx context.Context, n *node) error {
	mount := *c.mount.Load()
	c.fs.mu.Lock()
	place := cover.Place{Parent: n.parent.id, Name: n.name, Inode: n.ino}
	c.fs.mu.Unlock()
	if is, err := mount.Covered(place); is || err != nil {
		return err
	}
	c.tidy()
	if ok, err := c.room(n.meta.size); !ok || err != nil {
		return err
	}
	file, err := c.folder.Create(cover.Attributes{Permissions: n.meta.mode & 0o777, Owner: c.fs.owner, Size: n.meta.size, Date: n.meta.date})
	if err != nil {
		return err
	}
	if err := c.unpack(ctx, file, n); err != nil {
		return errors.Join(err, file.Remove())
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := file.Cover(mount, place); err != nil {
		return errors.Join(err, file.Remove())
	}
	c.active = append(c.active, covered{place, file, n.meta.size, time.Now()})
	return nil
}

// A disk is what a content is unpacked to.
type disk interface {
	io.WriterAt
	Sync() error
}

// unpack writes a content to a file, in moments in which nobody waits for others, and while
// nobody else needs the room.
func (c *coverer) unpack(ctx context.Context, to disk, n *node) error {
	content, err := c.fs.config.Contents.Content(ctx, n.key)
	if err != nil {
		return unreadable(err)
	}
	defer content.Close() // what could not be closed was read
	if content.Size() != n.meta.size {
		return unreadable(otherSize(content.Size(), n.meta.size))
	}
	part := make([]byte, blockSize)
	for off := int64(0); off < n.meta.size; off += blockSize {
		if err := c.await(ctx); err != nil {
			return err
		}
		part := part[:min(blockSize, n.meta.size-off)]
		read, err := content.ReadAt(part, off)
		if err := full(read, len(part), err); err != nil {
			return unreadable(err)
		}
		if _, err := to.WriteAt(part, off); err != nil {
			return err
		}
	}
	return to.Sync()
}

// unreadable is the error of a content, of which who reads it is told. It is no error of
// covering files, whatever is behind it.
func unreadable(err error) error { return fmt.Errorf("reading what is to be unpacked: %v", err) }

// await waits until nobody waits for content, or the file system ends. That can take
// for ever, so meanwhile it looks after covers.
func (c *coverer) await(ctx context.Context) error {
	for {
		left := quiet - time.Duration(time.Now().UnixNano()-c.waited.Load())
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.check:
			c.tidy()
			if c.needed() {
				c.note("giving back room", c.fs.Uncover())
				return errNeeded
			}
			continue
		case <-time.After(max(left, 0)):
		}
		if left <= 0 {
			return nil
		}
	}
}
