//go:build linux || darwin

package versions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/fusefs/cover"
)

const (
	coverFrom    = 16 << 20
	maxCovers    = 32
	maxCovered   = 2 << 30
	coverPart    = 8       // of the free space that files may take: this part of it
	leaveFree    = 10      // of the disk, which stays free: this part of it …
	enoughFree   = 4 << 30 // … but not more than that
	coverStays   = time.Minute
	spaceChecked = 10 * time.Second
	quiet        = 20 * time.Millisecond // that nobody waits for content, before some is unpacked
)

// coverer puts files of the disk over large ones that are probably read again: when
// the kernel has the content of a file in memory, the server sees no reading any more,
// and so that it was read to its end is all that it will know.
type coverer struct {
	CoverLimits
	folder *cover.Folder // nil for none
	fs     *FS
	queue  chan *node
	ended  chan struct{}
	end    func() // closes ended, once
	work   sync.WaitGroup
	waited atomic.Int64 // when somebody last wanted content, Unix nanoseconds
	off    atomic.Bool  // it cannot be done here

	mu    sync.Mutex
	mount *cover.Mount    // nil until it is mounted
	asked map[*node]int64 // how many bytes of a file the kernel has asked for

	turn  sync.Mutex // while covers come or go
	there []covered  // the oldest first; guarded by turn
}

// A covered is a file with another one over it.
type covered struct {
	place cover.Place
	by    *cover.File
	size  int64
	since time.Time
}

func newCoverer(f *FS, folder *cover.Folder, l CoverLimits) *coverer {
	c := &coverer{folder: folder, fs: f, queue: make(chan *node, 16), ended: make(chan struct{}), asked: map[*node]int64{}}
	c.end = sync.OnceFunc(func() { close(c.ended) })
	c.CoverLimits = CoverLimits{cmp.Or(l.From, coverFrom), cmp.Or(l.Files, maxCovers), cmp.Or(l.Bytes, maxCovered), cmp.Or(l.Stays, coverStays)}
	return c
}

// Mounted tells where the file system is mounted: from then on files may be covered.
func (f *FS) Mounted(at cover.Mount) {
	f.covers.mu.Lock()
	defer f.covers.mu.Unlock()
	f.covers.mount = &at
}

// Uncover takes away what was put over files. It may be put there again.
func (f *FS) Uncover() error {
	c := f.covers
	c.turn.Lock()
	defer c.turn.Unlock()
	for len(c.there) > 0 {
		if err := c.uncoverOldest(); err != nil {
			return err
		}
	}
	return nil
}

func (c *coverer) start() {
	if c.folder != nil {
		c.work.Go(c.run)
	}
}

// stop ends the work. What covers files has gone with the mount, or goes with it.
func (c *coverer) stop() {
	c.end()
	c.work.Wait()
	c.turn.Lock()
	defer c.turn.Unlock()
	for _, there := range c.there {
		c.note("removing an unpacked file", there.by.Remove())
	}
	c.there = nil
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
	if c.asked[n] += int64(bytes); c.asked[n] < n.meta.size || c.mount == nil {
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

func (c *coverer) run() {
	check := time.NewTicker(min(spaceChecked, c.Stays))
	defer check.Stop()
	for {
		select {
		case <-c.ended:
			return
		case n := <-c.queue:
			c.consider(n)
		case <-check.C:
			c.keepFree()
		}
	}
}

// consider covers a file, if that can be done and there is room.
func (c *coverer) consider(n *node) {
	if c.off.Load() {
		return
	}
	err := c.cover(n)
	switch {
	case err == nil:
	case errors.Is(err, cover.ErrUncoverable), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, context.Canceled):
		c.note("covering a file", err)
	default: // neither can others
		c.off.Store(true)
		c.note("covering files", err)
	}
}

func (c *coverer) note(doing string, err error) {
	if err != nil {
		c.fs.config.Logger.Debug(doing, "err", err)
	}
}

func (c *coverer) cover(n *node) error {
	c.mu.Lock()
	mount := *c.mount
	c.mu.Unlock()
	c.fs.mu.Lock()
	place := cover.Place{Parent: n.parent.id, Name: n.name, Inode: n.ino}
	c.fs.mu.Unlock()
	if is, err := mount.Covered(place); is || err != nil {
		return err
	}
	c.forgetBare()
	if ok, err := c.room(n.meta.size); !ok || err != nil {
		return err
	}
	file, err := c.folder.Create(cover.Attributes{Permissions: n.meta.mode & 0o777, Owner: c.fs.owner, Size: n.meta.size, Date: n.meta.date})
	if err != nil {
		return err
	}
	if err := c.unpack(file, n); err != nil {
		return errors.Join(err, file.Remove())
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := file.Cover(mount, place); err != nil {
		return errors.Join(err, file.Remove())
	}
	c.there = append(c.there, covered{place, file, n.meta.size, time.Now()})
	return nil
}

// forgetBare removes the files that cover nothing any more: what they covered is not found
// any more, or whoever unmounts began with them.
func (c *coverer) forgetBare() {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.there = slices.DeleteFunc(c.there, func(there covered) bool {
		if there.by.Mounted() {
			return false
		}
		c.note("removing an unpacked file", there.by.Remove())
		return true
	})
}

// unpack writes a content to a file, in moments in which nobody waits for others.
func (c *coverer) unpack(to *cover.File, n *node) error {
	content, err := c.fs.config.Contents.Content(context.Background(), n.key)
	if err != nil {
		return fmt.Errorf("%w: %w", cover.ErrUncoverable, err)
	}
	defer content.Close() // what could not be closed was read
	if content.Size() != n.meta.size {
		return fmt.Errorf("%w: %w", cover.ErrUncoverable, otherSize(content.Size(), n.meta.size))
	}
	part := make([]byte, blockSize)
	for off := int64(0); off < n.meta.size; off += blockSize {
		if !c.await() {
			return context.Canceled
		}
		part := part[:min(blockSize, n.meta.size-off)]
		read, err := content.ReadAt(part, off)
		if err := full(read, len(part), err); err != nil { // who reads it is told
			return fmt.Errorf("%w: %w", cover.ErrUncoverable, err)
		}
		if _, err := to.WriteAt(part, off); err != nil {
			return err
		}
	}
	return to.Sync()
}

// await waits until nobody waits for content. It reports whether the file system is still
// there.
func (c *coverer) await() bool {
	for {
		left := quiet - time.Duration(time.Now().UnixNano()-c.waited.Load())
		select {
		case <-c.ended:
			return false
		case <-time.After(max(left, 0)):
		}
		if left <= 0 {
			return true
		}
	}
}

// room reports whether the disk has room for a file of a size, after those have gone
// that were there long enough.
func (c *coverer) room(size int64) (bool, error) {
	disk, free, err := c.folder.Space()
	if err != nil {
		return false, err
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	used := c.used()
	limit := min(c.Bytes, (free+used)/coverPart)
	if size > limit || free-size < toLeave(disk) {
		return false, nil
	}
	for used+size > limit || len(c.there) >= c.Files {
		oldest := c.there[0]
		if time.Since(oldest.since) < c.Stays {
			return false, nil
		}
		if err := c.uncoverOldest(); err != nil {
			return false, err
		}
		used -= oldest.size
	}
	return true, nil
}

// toLeave returns how much of a disk has to stay free.
func toLeave(disk int64) int64 { return min(disk/leaveFree, enoughFree) }

func (c *coverer) used() (sum int64) {
	for _, there := range c.there {
		sum += there.size
	}
	return sum
}

// uncoverOldest takes away what is over a file. When that cannot be done now, it stays.
// c.turn is held.
func (c *coverer) uncoverOldest() error {
	c.mu.Lock()
	mount := *c.mount
	c.mu.Unlock()
	there := c.there[0]
	if err := there.by.Uncover(mount, there.place); err != nil {
		return err
	}
	c.there = c.there[1:]
	return there.by.Remove()
}

// keepFree gives back the room of what covers nothing, and all of it when others need it.
func (c *coverer) keepFree() {
	c.forgetBare()
	c.turn.Lock()
	none := len(c.there) == 0
	c.turn.Unlock()
	if none {
		return
	}
	if disk, free, err := c.folder.Space(); err != nil || free < toLeave(disk) {
		c.note("giving back room", c.fs.Uncover())
	}
}
