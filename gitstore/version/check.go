package version

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Limits of a version. Without them, a few objects could represent any number of files, since a tree may contain the same
// directory under many names: a reader would walk through all of them.
const (
	maxFiles = 50_000_000 // including directories
	maxBytes = 1 << 46    // in regular files
)

// CheckVersion checks the directories of a version of a resource. It skips directories that base has at the same path; base is the
// id of another version, or "" for none. It does not read the content of files, which is verified when it is loaded.
//
// It returns [domarkx.ErrCorrupt] if a directory does not have the format of SPEC.md or is nested in more than
// [MaxDepth] others, or if the version contains more than 50 million files or 64 TiB. It returns [domarkx.ErrNotFound] if an
// object is missing.
func (s Reader) CheckVersion(ctx context.Context, base, version string) error {
	return NewChecker(s, nil).Check(ctx, base, version)
}

// A Checker checks versions as [Reader.CheckVersion] does, but each directory only once, even if many versions contain it. It is
// for one goroutine.
type Checker struct {
	store   Reader
	content func(f *domarkx.File) error // nil to skip contents
	known   map[directoryPair]extent    // results of earlier checks
}

// NewChecker returns a Checker. If content is not nil, the Checker calls it for each regular file and symbolic link whose
// content differs from that of the file at the same path in the base. An error of content ends the check.
func NewChecker(s Reader, content func(f *domarkx.File) error) *Checker {
	return &Checker{store: s, content: content, known: map[directoryPair]extent{}}
}

// Check checks a version; see [Reader.CheckVersion].
func (c *Checker) Check(ctx context.Context, base, version string) error {
	_, err := c.directory(ctx, "", base, version, 0)
	return err
}

// A directoryPair identifies a directory and the directory at the same path in the base, "" for none.
type directoryPair struct{ base, id string }

// An extent is the size of a directory with all below it, except for directories that are the same in the base.
type extent struct {
	files, bytes int64
	height       int // levels of directories below it
}

func (c *Checker) directory(ctx context.Context, path, base, id string, depth int) (extent, error) {
	if id == base {
		return extent{}, nil
	}
	all, known := c.known[directoryPair{base, id}]
	if depth+all.height > MaxDepth {
		return all, fmt.Errorf("%s: %w: it is nested in more than %d directories", QuotePath(path), domarkx.ErrCorrupt, MaxDepth)
	}
	if known {
		return all, nil
	}
	files, err := c.store.Directory(ctx, id)
	if err != nil {
		return all, inDirectory(path, err)
	}
	before := map[string]string{}
	content := map[string]string{}
	if base != "" {
		old, err := c.store.Directory(ctx, base)
		if err != nil && ctx.Err() != nil {
			return all, ctx.Err()
		}
		for _, f := range old { // old is nil if the directory of the base cannot be read
			before[f.Name], content[f.Name] = directoryID(&f), f.ID
		}
	}
	for _, f := range files {
		below := extent{bytes: f.Size}
		if f.Type == domarkx.Directory {
			if below, err = c.directory(ctx, join(path, f.Name), before[f.Name], f.ID, depth+1); err != nil {
				return all, err
			}
			below.height++
		} else if c.content != nil && f.ID != "" && f.ID != content[f.Name] {
			if err := c.content(&f); err != nil {
				return all, fmt.Errorf("%s: %w", QuotePath(join(path, f.Name)), err)
			}
		}
		all.files = min(all.files+below.files+1, maxFiles+1)
		all.bytes = min(all.bytes+min(below.bytes, maxBytes+1), maxBytes+1)
		all.height = max(all.height, below.height)
	}
	switch {
	case all.files > maxFiles:
		return all, fmt.Errorf("%s: %w: it contains more than %d files", QuotePath(path), domarkx.ErrCorrupt, maxFiles)
	case all.bytes > maxBytes:
		return all, fmt.Errorf("%s: %w: its files have more than %d TiB in total", QuotePath(path), domarkx.ErrCorrupt, int64(maxBytes)>>40)
	}
	c.known[directoryPair{base, id}] = all
	return all, nil
}

func inDirectory(path string, err error) error {
	if path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", QuotePath(path), err)
}

// join returns the path of a file in a directory of a version.
func join(directory, name string) string {
	if directory == "" {
		return name
	}
	return directory + "/" + name
}
