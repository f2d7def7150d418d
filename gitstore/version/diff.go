package version

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// DiffVersions calls fn for each path at which the versions a and b differ, directories before their files and each directory
// sorted by name. old or new is nil if a or b has no file there. The version "" is empty. For a directory, fn is called only
// if its own attributes differ or one version does not have it; fn is called for its files too. Directories that are equal
// in both are not read. An error of fn ends the comparison. If the parts that differ exceed the limits of
// [Reader.CheckVersion], DiffVersions returns that error before it calls fn.
func (s Reader) DiffVersions(ctx context.Context, a, b string, fn func(path string, old, new *domarkx.File) error) error {
	var tops [2]*domarkx.File
	for i, version := range []string{a, b} {
		if version == "" {
			continue
		}
		top, err := s.Top(ctx, version)
		if err != nil {
			return err
		}
		if err := s.CheckVersion(ctx, [2]string{b, a}[i], version); err != nil {
			return err
		}
		tops[i] = &top
	}
	d := differ{store: s, fn: fn}
	return d.file(ctx, "", tops[0], tops[1], 0)
}

type differ struct {
	store Reader
	fn    func(path string, old, new *domarkx.File) error
}

func (d *differ) file(ctx context.Context, path string, old, new *domarkx.File, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > MaxDepth+1 {
		return fmt.Errorf("%s: %w: it is nested in more than %d directories", QuotePath(path), domarkx.ErrCorrupt, MaxDepth)
	}
	if !sameButContent(old, new) || old != nil && old.Type != domarkx.Directory && old.ID != new.ID {
		if err := d.fn(path, old, new); err != nil {
			return err
		}
	}
	before, after := directoryID(old), directoryID(new)
	if before == after {
		return nil
	}
	return d.directory(ctx, path, before, after, depth+1)
}

func directoryID(f *domarkx.File) string {
	if f == nil || f.Type != domarkx.Directory {
		return ""
	}
	return f.ID
}

// directory compares the files in two directories. The directory "" is empty.
func (d *differ) directory(ctx context.Context, path, a, b string, depth int) error {
	var files [2][]domarkx.File
	for i, id := range []string{a, b} {
		if id == "" {
			continue
		}
		var err error
		if files[i], err = d.store.Directory(ctx, id); err != nil {
			return fmt.Errorf("%s: %w", QuotePath(path), err)
		}
	}
	for before, after := files[0], files[1]; len(before) > 0 || len(after) > 0; {
		var old, new *domarkx.File
		if len(after) == 0 || len(before) > 0 && before[0].Name <= after[0].Name {
			old = &before[0]
		}
		if len(before) == 0 || len(after) > 0 && after[0].Name <= before[0].Name {
			new = &after[0]
		}
		var name string
		if old != nil {
			name, before = old.Name, before[1:]
		}
		if new != nil {
			name, after = new.Name, after[1:]
		}
		if err := d.file(ctx, join(path, name), old, new, depth); err != nil {
			return err
		}
	}
	return nil
}

// sameButContent reports whether two files have the same type and attributes, or are both nil.
func sameButContent(a, b *domarkx.File) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Type == b.Type && a.Mode == b.Mode && ownerOf(a) == ownerOf(b) && a.Major == b.Major && a.Minor == b.Minor &&
		a.HardLink == b.HardLink && slices.EqualFunc(a.Xattrs, b.Xattrs, func(x, y domarkx.Xattr) bool {
		return x.Name == y.Name && bytes.Equal(x.Value, y.Value)
	})
}
