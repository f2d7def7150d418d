package gitstore

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// CheckVersion reports, as [domarkx.ErrCorrupt], what is wrong with the folders of a
// version of a resource. Of base, an earlier version or "" for none, nothing is looked
// at again. Content is not read: it cannot keep a version from being loaded halfway,
// and its objects name it.
func (r reader) CheckVersion(ctx context.Context, base, version string) error {
	c := versionCheck{reader: r, seen: map[string]int{}}
	return c.folder(ctx, "", base, version, 0)
}

type versionCheck struct {
	reader
	seen map[string]int // how deep folders were, by id: a hostile version has the same ones again and again
}

// folder checks a folder; base is the one that the base has at the path, "" for none.
func (c *versionCheck) folder(ctx context.Context, path, base, id string, depth int) error {
	if was, ok := c.seen[id]; id == base || ok && was >= depth {
		return nil
	}
	c.seen[id] = depth
	if depth > maxVersionDepth {
		return fmt.Errorf("%s: %w: it is more than %d folders deep", quotedPath(path), domarkx.ErrCorrupt, maxVersionDepth)
	}
	files, err := c.Folder(ctx, id)
	if err != nil {
		return fmt.Errorf("%s: %w", quotedPath(path), err)
	}
	before := map[string]string{}
	if base != "" {
		old, err := c.Folder(ctx, base)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, f := range old { // none of a base that is damaged
			before[f.Name] = folderID(&f)
		}
	}
	for _, f := range files {
		if f.Type != domarkx.Directory {
			continue
		}
		if err := c.folder(ctx, join(path, f.Name), before[f.Name], f.ID, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// join is the path of a file in a folder of a version.
func join(folder, name string) string {
	if folder == "" {
		return name
	}
	return folder + "/" + name
}
