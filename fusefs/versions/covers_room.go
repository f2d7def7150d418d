//go:build linux || darwin

package versions

import (
	"errors"
	"slices"
	"time"
)

const (
	coverPart  = 8       // of the free space that files may take: this part of it
	leaveFree  = 10      // of the disk, which stays free: this part of it …
	enoughFree = 4 << 30 // … but not more than that
)

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
	for used+size > limit || len(c.active) >= c.Files {
		oldest := c.active[0]
		if time.Since(oldest.since) < c.MinAge {
			return false, nil
		}
		if err := c.uncover(func(is covered) bool { return is.by == oldest.by }); err != nil {
			return false, err
		}
		used -= oldest.size
	}
	return true, nil
}

// toLeave returns how much of a disk has to stay free.
func toLeave(disk int64) int64 { return min(disk/leaveFree, enoughFree) }

func (c *coverer) used() (sum int64) {
	for _, is := range c.active {
		sum += is.size
	}
	return sum
}

// uncover takes away what is over those files, and removes it. What cannot be taken away
// now stays. c.turn is held.
func (c *coverer) uncover(those func(covered) bool) error {
	mount := c.mount.Load()
	var errs []error
	c.active = slices.DeleteFunc(c.active, func(is covered) bool {
		if !those(is) {
			return false
		}
		if err := is.by.Uncover(*mount, is.place); err != nil {
			errs = append(errs, err)
			return false
		}
		c.note("removing an unpacked file", is.by.Remove())
		return true
	})
	return errors.Join(errs...)
}

// tidy removes the files that cover nothing any more: what they covered is not found any
// more, or whoever unmounts began with them. And it takes away what is not as it was
// unpacked.
func (c *coverer) tidy() {
	c.turn.Lock()
	defer c.turn.Unlock()
	c.active = slices.DeleteFunc(c.active, func(is covered) bool {
		// It is known by its name, which it had then if nothing was done to it until now.
		if is.by.Mounted() || !is.by.Unchanged() {
			return false
		}
		c.note("removing an unpacked file", is.by.Remove())
		return true
	})
	c.note("taking away what was changed", c.uncover(func(is covered) bool { return !is.by.Unchanged() }))
}

// errNeeded says that others need the room of what is being unpacked.
var errNeeded = errors.New("unpacking a file: others need the room on the disk")

// needed reports whether others need the room that files take, as far as can be told.
func (c *coverer) needed() bool {
	disk, free, err := c.folder.Space()
	return err != nil || free < toLeave(disk)
}

func (c *coverer) none() bool {
	c.turn.Lock()
	defer c.turn.Unlock()
	return len(c.active) == 0
}
