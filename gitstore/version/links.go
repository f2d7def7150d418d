package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// addLink notes a hard link. It returns an error if the file to which it is a link comes after it in a walk.
func (b *Writer) addLink(path string, c *child) error {
	if compareWalk(c.HardLink, path) >= 0 {
		return fmt.Errorf("hard link to %q: %w", c.HardLink, errOrder)
	}
	if b.links == nil {
		b.links = map[string][]string{}
	}
	b.links[c.HardLink] = append(b.links[c.HardLink], strings.Clone(path))
	return nil
}

// compareWalk compares two paths by their order in a walk that visits the files of each directory sorted by name.
func compareWalk(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' || a[i] > b[i] {
			return 1
		}
		return -1
	}
	return len(a) - len(b)
}

// checkLinks checks the hard links of the version that Finish has just written.
func (b *Writer) checkLinks(ctx context.Context) error {
	if len(b.links) == 0 {
		return nil
	}
	var paths []string
	for first, others := range b.links {
		paths = append(append(paths, first), others...)
	}
	slices.SortFunc(paths, compareWalk)
	files, err := b.lookUp(ctx, paths)
	if err != nil {
		return err
	}
	for first, others := range b.links {
		f := files[first]
		for _, path := range others {
			if c := files[path]; !c.sameFile(&f) || f.HardLink != "" || f.Type == domarkx.Directory {
				return fmt.Errorf("hard link %q to %q: %w: they have different attributes or content", path, first, domarkx.ErrInvalid)
			}
		}
	}
	return nil
}

// sameFile reports whether c can be a hard link to other, which has the same type, mode, content and device numbers then.
func (c *child) sameFile(other *child) bool {
	return c.Type == other.Type && c.Mode == other.Mode && c.object == other.object && c.chunks == other.chunks &&
		c.Major == other.Major && c.Minor == other.Minor
}

// lookUp reads the files at the given paths, which must be in the order of a walk, and returns them by path.
func (b *Writer) lookUp(ctx context.Context, paths []string) (map[string]child, error) {
	type level struct {
		name     string // of the directory
		children []child
	}
	_, top, err := b.store.directoryOf(b.root.String())
	if err != nil {
		return nil, err
	}
	at := []level{{children: top}}
	files := make(map[string]child, len(paths))
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names := strings.Split(path, "/")
		for depth, name := range names {
			c, ok := findChild(at[depth].children, name)
			if !ok {
				return nil, fmt.Errorf("hard link to %q: %w: the file was not added", path, domarkx.ErrInvalid)
			}
			if depth == len(names)-1 {
				files[path] = *c
				break
			}
			if depth+1 < len(at) && at[depth+1].name == name {
				continue
			}
			at = at[:depth+1]
			if c.Type != domarkx.Directory {
				return nil, fmt.Errorf("hard link to %q: %w: the file was not added", path, domarkx.ErrInvalid)
			}
			_, children, err := b.store.directoryOf(c.object.String())
			if err != nil {
				return nil, err
			}
			at = append(at, level{name, children})
		}
	}
	return files, nil
}

func findChild(children []child, name string) (*child, bool) {
	i, ok := slices.BinarySearchFunc(children, name, func(c child, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil, false
	}
	return &children[i], true
}
