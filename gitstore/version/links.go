package version

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// linkGroups contains the groups of hard links in a version. The names in a group are paths of the same file; one of them is
// the path to which the others were added as links.
type linkGroups struct {
	members map[string][]string // that path → the others
	first   map[string]string   // each of the others → that path
}

// add adds a hard link to its group. A link to another link becomes a link to the path that all of the group link to.
func (g *linkGroups) add(path string, c *child) error {
	if g.members == nil {
		g.members, g.first = map[string][]string{}, map[string]string{}
	}
	if first, ok := g.first[c.HardLink]; ok {
		c.HardLink = first
	}
	if c.HardLink == path || g.members[path] != nil {
		return fmt.Errorf("hard link to %q: %w", c.HardLink, errOrder)
	}
	path = strings.Clone(path)
	g.first[path] = c.HardLink
	g.members[c.HardLink] = append(g.members[c.HardLink], path)
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

// relink checks the hard links of the version that Finish has just written. The links of a group must be to its first path
// in the order of a walk. If the files of a directory were not added in the order of their names, another path may be the
// first: then relink writes the directories that contain the group's paths again, in a second batch.
func (b *Writer) relink(ctx context.Context) error {
	if len(b.links.members) == 0 {
		return nil
	}
	var paths []string
	for first, others := range b.links.members {
		paths = append(append(paths, first), others...)
	}
	slices.SortFunc(paths, compareWalk)
	files, err := b.lookUp(ctx, paths)
	if err != nil {
		return err
	}
	edits := &linkEdit{}
	for given, others := range b.links.members {
		f := files[given]
		all := append([]string{given}, others...)
		slices.SortFunc(all, compareWalk)
		for _, path := range all {
			if c := files[path]; path != given && !c.sameFile(&f) || path == given && (c.HardLink != "" || c.Type == domarkx.Directory) {
				return fmt.Errorf("hard link %q to %q: %w: they have different attributes or content", path, given, domarkx.ErrInvalid)
			}
		}
		if all[0] == given {
			continue
		}
		was := files[all[0]]
		for _, path := range all {
			c := files[path]
			switch path {
			case all[0]: // gets the attributes that were added with the path given
				c = f
				c.HardLink = ""
			case given:
				c = was
				c.HardLink = all[0]
			default:
				c.HardLink = all[0]
			}
			edits.put(path, c.File)
		}
	}
	if edits.below == nil {
		return nil
	}
	b.second = b.store.db.Begin()
	root, err := b.rewrite(ctx, b.root, edits)
	if err != nil {
		return err
	}
	if err := b.second.Sync(); err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	b.root = root
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

// A linkEdit is a change of a file, or of files in a directory.
type linkEdit struct {
	below map[string]*linkEdit // by name; nil for a file
	file  domarkx.File         // its new attributes
}

func (e *linkEdit) put(path string, f domarkx.File) {
	for name := range strings.SplitSeq(path, "/") {
		if e.below == nil {
			e.below = map[string]*linkEdit{}
		}
		if e.below[name] == nil {
			e.below[name] = &linkEdit{}
		}
		e = e.below[name]
	}
	e.file = f
}

// rewrite stores a directory with changes, in the second batch.
func (b *Writer) rewrite(ctx context.Context, directory odb.ID, e *linkEdit) (odb.ID, error) {
	if err := ctx.Err(); err != nil {
		return odb.ID{}, err
	}
	self, children, err := b.store.directoryOf(directory.String())
	if err != nil {
		return odb.ID{}, err
	}
	for name, edit := range e.below {
		c, ok := findChild(children, name)
		if !ok {
			return odb.ID{}, fmt.Errorf("directory %s: %w: %q", directory, domarkx.ErrCorrupt, name)
		}
		if edit.below == nil {
			c.HardLink, c.Xattrs = edit.file.HardLink, edit.file.Xattrs
			c.HasOwner, c.UID, c.GID = edit.file.HasOwner, edit.file.UID, edit.file.GID
			continue
		}
		if c.object, err = b.rewrite(ctx, c.object, edit); err != nil {
			return odb.ID{}, err
		}
	}
	return writeDirectory(b.second, self, children, odb.ID{}, nil)
}
