package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// normalize returns [domarkx.ErrInvalid] for invalid attributes of a file. It clears attributes that its type does not have,
// and sorts the extended ones.
func (c *child) normalize() error {
	f := &c.File
	switch {
	case f.Type < domarkx.Regular || f.Type > domarkx.BlockDevice:
		return fmt.Errorf("%w: versions cannot contain files of that type", domarkx.ErrInvalid)
	case f.Mode > 0o7777:
		return fmt.Errorf("%w: mode %o", domarkx.ErrInvalid, f.Mode)
	case strings.ContainsRune(f.Target, 0) || len(f.Target) > maxTarget:
		return fmt.Errorf("%w: its target has a NUL or more than %d bytes", domarkx.ErrInvalid, maxTarget)
	}
	if !f.HasOwner {
		f.UID, f.GID = 0, 0
	}
	if f.Type != domarkx.CharDevice && f.Type != domarkx.BlockDevice {
		f.Major, f.Minor = 0, 0
	}
	if f.HardLink != "" {
		if f.Type == domarkx.Directory {
			return fmt.Errorf("%w: directories cannot have hard links", domarkx.ErrInvalid)
		}
		if err := checkPath(f.HardLink); err != nil {
			return fmt.Errorf("hard link to %q: %w", f.HardLink, err)
		}
	}
	if !slices.IsSortedFunc(f.Xattrs, compareXattrs) {
		f.Xattrs = slices.SortedFunc(slices.Values(f.Xattrs), compareXattrs)
	}
	return checkXattrs(f.Xattrs)
}

func compareXattrs(a, b domarkx.Xattr) int { return strings.Compare(a.Name, b.Name) }

// resolve sets c.object and c.chunks of a regular file or symbolic link, and makes sure that the version will contain these
// objects.
func (b *Writer) resolve(in *openDirectory, c *child) (err error) {
	switch c.Type {
	case domarkx.Regular:
		if c.object, c.chunks, err = ParseContentID(c.ID); err != nil {
			return err
		}
		if in.inBase(treeName(c.Name, false), c.entryMode()).ID == c.object {
			var chunks odb.ID
			if in.large {
				chunks = in.inBase(chunksPrefix+escapeName(c.Name), odb.ModeTree).ID
			}
			if chunks == c.chunks {
				b.known.forget(c.object)
				break
			}
		}
		err = b.known.ensure(c.object, c.chunks)
	case domarkx.Symlink:
		target := []byte(c.Target)
		if c.Target == "" && c.ID != "" {
			if target, err = b.storedTarget(c.ID); err != nil {
				return err
			}
		}
		c.plain = isOddTarget(target)
		mode := c.entryMode()
		c.object = b.batch.Sum(odb.Blob, target)
		if in.inBase(treeName(c.Name, mode == odb.ModeSymlink), mode).ID != c.object {
			c.object, err = b.batch.Add(odb.Blob, target)
		}
	}
	c.ID, c.Target = "", ""
	return err
}

// storedTarget reads the target of a symbolic link from the object database.
func (b *Writer) storedTarget(id string) ([]byte, error) {
	object, err := odb.ParseID(id)
	if err != nil {
		return nil, err
	}
	if _, size, err := b.store.db.Size(object); err != nil {
		return nil, err
	} else if size > maxTarget {
		return nil, fmt.Errorf("%w: its target has %d bytes, expected at most %d", domarkx.ErrInvalid, size, maxTarget)
	}
	return b.store.db.Blob(object)
}

// maxLinkTarget is the longest target of a symbolic link that Linux can create, in bytes (PATH_MAX - 1, symlink(2)).
const maxLinkTarget = 4095

// isOddTarget reports whether a host may reject a symbolic link with that target: some versions of git fsck reject targets
// that are long or contain a name like .git.
func isOddTarget(target []byte) bool {
	if len(target) == 0 || len(target) > maxLinkTarget {
		return true
	}
	for name := range strings.SplitSeq(string(target), "/") {
		if name != "" && isHidden(name, true) {
			return true
		}
	}
	return false
}
