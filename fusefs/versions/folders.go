//go:build linux || darwin

package versions

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx"
)

// maxKept is the number of entries that are kept, of 150 to 200 bytes each:
// those of two large versions, which mostly have the same folders.
const maxKept = 1 << 17

// keptFolders reads what folders that never change have in them, and keeps those that
// were read last: the kernel forgets a listing long before somebody lists the
// same folder again, in this version or in the next.
type keptFolders struct {
	of domarkx.VersionReader

	mu    sync.Mutex
	kept  map[string]*list.Element // of *folder, the last used first
	order *list.List
	count int // of their entries
}

// A folder is what an id stands for, wherever it is shown. It is never changed.
type folder struct {
	id      string
	entries []entry // without inode number, date and slot
	links   []string
	skipped []string // names that cannot be shown
}

func newKeptFolders(of domarkx.VersionReader) *keptFolders {
	return &keptFolders{of: of, kept: map[string]*list.Element{}, order: list.New()}
}

// read returns what a folder has in it.
func (c *keptFolders) read(ctx context.Context, id string) (*folder, error) {
	if found := c.get(id); found != nil {
		return found, nil
	}
	files, err := c.of.Folder(ctx, id)
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

// make returns a folder of files.
func (c *keptFolders) make(ctx context.Context, files []domarkx.File) (*folder, error) {
	found := &folder{entries: make([]entry, 0, len(files))}
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

// has reports whether a folder can be read at once.
func (c *keptFolders) has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.kept[id] != nil
}

func (c *keptFolders) get(id string) *folder {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*folder)
}

func (c *keptFolders) put(f *folder) {
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
		last := c.order.Remove(c.order.Back()).(*folder)
		delete(c.kept, last.id)
		c.count -= last.cost()
	}
}

// cost is the number of entries that a folder counts as; an empty one takes memory
// too.
func (f *folder) cost() int { return len(f.entries) + 2 }

// inOrder reports whether entries are by name, and each name is there once.
func inOrder(entries []entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].name <= entries[i-1].name {
			return false
		}
	}
	return true
}

// nameable reports whether the kernel takes a name.
func nameable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}
