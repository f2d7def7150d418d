package gitstore

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// What a version may hold in all. A few objects can stand for any number of files, since
// a folder may have the same one under many names, and every reader would walk through
// all of them.
const (
	maxVersionFiles = 50_000_000 // with folders
	maxVersionBytes = 1 << 46    // of regular files
)

// CheckVersion reports, as [domarkx.ErrCorrupt], what is wrong with the folders of a
// version of a resource: one that cannot be read, or that they stand for more than any
// reader can walk through. Of base, another version or "" for none, nothing is looked at
// again where both have the same at the same path. Content is not read: it cannot keep a
// version from being loaded halfway, and its objects name it.
func (r reader) CheckVersion(ctx context.Context, base, version string) error {
	c := versionCheck{reader: r, known: map[folderPair]versionExtent{}}
	_, err := c.folder(ctx, "", base, version, 0)
	return err
}

type versionCheck struct {
	reader
	known   map[folderPair]versionExtent // of the folders that were looked at
	content func(f *domarkx.File) error  // if set, called with each file that the base has not
}

// A folderPair is a folder and the one that the base has at its path, "" for none.
type folderPair struct{ base, id string }

// A versionExtent is what a folder holds in all, without what the base has.
type versionExtent struct {
	files, bytes int64
	height       int // folders within each other
}

// folder checks a folder.
func (c *versionCheck) folder(ctx context.Context, path, base, id string, depth int) (versionExtent, error) {
	if id == base {
		return versionExtent{}, nil
	}
	all, known := c.known[folderPair{base, id}]
	if depth+all.height > maxVersionDepth {
		return all, fmt.Errorf("%s: %w: it is more than %d folders deep", quotedPath(path), domarkx.ErrCorrupt, maxVersionDepth)
	}
	if known {
		return all, nil
	}
	files, err := c.Folder(ctx, id)
	if err != nil {
		return all, inFolder(path, err)
	}
	before := map[string]string{}
	content := map[string]string{}
	if base != "" {
		old, err := c.Folder(ctx, base)
		if err != nil && ctx.Err() != nil {
			return all, ctx.Err()
		}
		for _, f := range old { // none of a base that is damaged
			before[f.Name], content[f.Name] = folderID(&f), f.ID
		}
	}
	for _, f := range files {
		below := versionExtent{bytes: f.Size}
		if f.Type == domarkx.Directory {
			if below, err = c.folder(ctx, join(path, f.Name), before[f.Name], f.ID, depth+1); err != nil {
				return all, err
			}
			below.height++
		} else if c.content != nil && f.ID != "" && f.ID != content[f.Name] {
			if err := c.content(&f); err != nil {
				return all, fmt.Errorf("%s: %w", quotedPath(join(path, f.Name)), err)
			}
		}
		all.files = min(all.files+below.files+1, maxVersionFiles+1)
		all.bytes = min(all.bytes+min(below.bytes, maxVersionBytes+1), maxVersionBytes+1)
		all.height = max(all.height, below.height)
	}
	switch {
	case all.files > maxVersionFiles:
		return all, fmt.Errorf("%s: %w: it stands for more than %d files", quotedPath(path), domarkx.ErrCorrupt, maxVersionFiles)
	case all.bytes > maxVersionBytes:
		return all, fmt.Errorf("%s: %w: its files have more than %d TiB in all", quotedPath(path), domarkx.ErrCorrupt, int64(maxVersionBytes)>>40)
	}
	c.known[folderPair{base, id}] = all
	return all, nil
}

// inFolder says in which folder of a version something is wrong.
func inFolder(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", quotedPath(path), err)
}

// join is the path of a file in a folder of a version.
func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}
