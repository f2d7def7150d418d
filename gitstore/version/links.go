package version

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
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
	known := map[odb.ID][]child{}
	for _, first := range slices.Sorted(maps.Keys(b.links)) {
		f, err := b.lookUp(ctx, first, known)
		if err != nil {
			return err
		}
		for _, path := range b.links[first] {
			c, err := b.lookUp(ctx, path, known)
			if err != nil {
				return err
			}
			if !c.sameFile(f) || f.HardLink != "" || f.Type == domarkx.Directory {
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

// maxLookedUp is the number of directories that lookUp keeps in memory.
const maxLookedUp = 1 << 12

// lookUp returns the file at a path of the version. known contains directories that were read.
func (b *Writer) lookUp(ctx context.Context, path string, known map[odb.ID][]child) (*child, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for id, rest := b.root, path; ; {
		name, after, below := strings.Cut(rest, "/")
		children, ok := known[id]
		if !ok {
			var err error
			if _, children, err = b.store.directoryOf(id.String()); err != nil {
				return nil, err
			}
			if len(known) >= maxLookedUp {
				clear(known)
			}
			known[id] = children
		}
		c, ok := findChild(children, name)
		if !ok || below && c.Type != domarkx.Directory {
			return nil, fmt.Errorf("hard link to %q: %w: the file was not added", path, domarkx.ErrInvalid)
		}
		if !below {
			return c, nil
		}
		id, rest = c.object, after
	}
}

func findChild(children []child, name string) (*child, bool) {
	i, ok := slices.BinarySearchFunc(children, name, func(c child, name string) int { return strings.Compare(c.Name, name) })
	if !ok {
		return nil, false
	}
	return &children[i], true
}
