//go:build linux || darwin

package workspaces

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxKept is the number of cached entries, of 150 to 200 bytes each: those of two large
// versions, which mostly share their directories.
const maxKept = 1 << 17

// A directoryCache reads immutable directories, and caches the most recently used. The
// kernel forgets a listing long before somebody lists the same directory again, in this
// version or the next.
type directoryCache struct {
	of domarkx.VersionReader

	mu    sync.Mutex
	kept  map[string]*list.Element // of *directory, the last used first
	order *list.List
	count int // cost of the cached directories
}

// A directory is the content of an object id, independent of where it is shown. It is
// immutable.
type directory struct {
	id      string
	entries []entry // without inode numbers, dates and slots
	links   []string
	skipped []string // names that cannot be shown
}

func newDirectoryCache(of domarkx.VersionReader) *directoryCache {
	return &directoryCache{of: of, kept: map[string]*list.Element{}, order: list.New()}
}

func (c *directoryCache) read(ctx context.Context, id string) (*directory, error) {
	if found := c.get(id); found != nil {
		return found, nil
	}
	files, err := c.of.Directory(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := c.make(ctx, files)
	if err != nil {
		return nil, err
	}
	found.id = id
	c.put(found)
	return found, nil
}

func (c *directoryCache) make(ctx context.Context, files []domarkx.File) (*directory, error) {
	found := &directory{entries: make([]entry, 0, len(files))}
	var err error
	for i := range files {
		file := &files[i]
		if !nameable(file.Name) {
			found.skipped = append(found.skipped, file.Name)
			continue
		}
		e := entry{name: file.Name, key: file.ID}
		if e.meta, err = c.meta(ctx, file); err != nil {
			return nil, fmt.Errorf("%q: %w", file.Name, err)
		}
		found.entries = append(found.entries, e)
	}
	if !inOrder(found.entries) {
		slices.SortStableFunc(found.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
		found.entries = slices.CompactFunc(found.entries, func(a, b entry) bool { return a.name == b.name })
	}
	if slices.ContainsFunc(files, func(f domarkx.File) bool { return f.HardLink != "" && f.Type != domarkx.Directory }) {
		found.links = make([]string, len(found.entries))
		for i := range files {
			if at, ok := find(found.entries, files[i].Name); ok && files[i].Type != domarkx.Directory {
				found.links[at] = files[i].HardLink
			}
		}
	}
	return found, nil
}

func (c *directoryCache) get(id string) *directory {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*directory)
}

func (c *directoryCache) put(f *directory) {
	if len(f.entries) > maxKept/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[f.id] != nil {
		return
	}
	c.kept[f.id] = c.order.PushFront(f)
	c.count += f.cost()
	for c.count > maxKept {
		last := c.order.Remove(c.order.Back()).(*directory)
		delete(c.kept, last.id)
		c.count -= last.cost()
	}
}

// cost is the number of entries that a directory counts as. An empty one takes memory too.
func (f *directory) cost() int { return len(f.entries) + 2 }

// inOrder reports whether the entries are sorted by name without duplicates.
func inOrder(entries []entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].name <= entries[i-1].name {
			return false
		}
	}
	return true
}

// nameable reports whether the kernel accepts a name.
func nameable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}
