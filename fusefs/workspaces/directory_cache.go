//go:build linux || darwin

package workspaces

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxKept is the number of cached entries, of 150 to 200 bytes each: those of two large
// versions, which mostly share their directories.
const maxKept = 1 << 17

// A directory is the content of an object id, independent of where it is shown. It is
// immutable.
type directory struct {
	entries []entry // without inode numbers, dates and slots
	links   []string
	skipped []string // names that cannot be shown
}

func (d *directory) cost() int { return len(d.entries) + 2 } // an empty one takes memory too

// readDirectory reads an immutable directory, unless it is cached. The kernel forgets a listing long before somebody lists
// the same directory again, in this version or the next.
func (f *FS) readDirectory(ctx context.Context, id string) (*directory, error) {
	return f.kept.Load(ctx, id, func(ctx context.Context) (*directory, error) {
		files, err := f.config.Contents.Directory(ctx, id)
		if err != nil {
			return nil, err
		}
		return f.makeDirectory(ctx, files)
	})
}

func (f *FS) makeDirectory(ctx context.Context, files []domarkx.File) (*directory, error) {
	found := &directory{entries: make([]entry, 0, len(files))}
	var err error
	for i := range files {
		file := &files[i]
		if !nameable(file.Name) {
			found.skipped = append(found.skipped, file.Name)
			continue
		}
		e := entry{name: file.Name, key: file.ID}
		if e.meta, err = f.metaOf(ctx, file); err != nil {
			return nil, fmt.Errorf("%q: %w", file.Name, err)
		}
		found.entries = append(found.entries, e)
	}
	slices.SortStableFunc(found.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	found.entries = slices.CompactFunc(found.entries, func(a, b entry) bool { return a.name == b.name })
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

// nameable reports whether the kernel accepts a name.
func nameable(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= maxName && !strings.ContainsAny(name, "/\x00")
}
