package domarkx

import (
	"context"
	"fmt"
	"io"
)

// A FileType is what a file in a version is (inode(7)).
type FileType uint8

// The types of files that a version can hold. Sockets are none: they mean nothing
// without the process that listens.
const (
	Regular FileType = iota + 1
	Directory
	Symlink
	Fifo
	CharDevice
	BlockDevice
)

// String names the type as it is called in messages to users.
func (t FileType) String() string {
	switch t {
	case Regular:
		return "file"
	case Directory:
		return "folder"
	case Symlink:
		return "symbolic link"
	case Fifo:
		return "FIFO"
	case CharDevice:
		return "character device"
	case BlockDevice:
		return "block device"
	}
	return "unknown file type"
}

// A File is one name in a folder of a version of a resource. Times are not kept:
// equal content, names and modes make equal versions.
type File struct {
	Name string // any bytes but NUL and slash; "" for the top folder of a resource
	Type FileType
	Mode uint32 // permission, set-id and sticky bits (07777)

	// ID names the content of a regular file, the target of a symbolic link, or what
	// a folder holds: opaque, and equal for equal things. "" for the other types.
	ID   string
	Size int64 // of a regular file, in bytes

	// Target is where a symbolic link leads; any bytes but NUL. It is set for
	// writing; a [VersionReader] leaves it to its method Content.
	Target string

	HasOwner     bool   // whether the resource keeps owners, as containers do
	UID, GID     uint32 // when HasOwner
	Major, Minor uint32 // of a device

	// HardLink is the path, from the top folder of the resource, of the file that
	// this is another name of, "" for none. That file comes first in a walk, and
	// this one repeats its type, mode, ID and size.
	HardLink string

	Xattrs []Xattr // sorted by name
}

// An Xattr is an extended attribute of a file (xattr(7)).
type Xattr struct {
	Name  string // with its namespace, such as "user.comment"
	Value []byte
}

// A VersionWriter takes what a resource holds. Files are added in the order of a
// walk: a folder before what is in it, all of that before anything else, and the
// top folder, whose path is "", first of all. The names within a folder may
// come in any order. An error about a file names its path.
type VersionWriter interface {
	// Content stores the content of a regular file and returns its id. It may be
	// called from several goroutines at once, memory use does not depend on the size.
	Content(ctx context.Context, r io.Reader) (id string, size int64, err error)
	// Add adds the file at a path (slash-separated, from the resource's top folder).
	// f.Name is not looked at. The ID of a regular file may be one from an earlier
	// version; when that is not stored any more the error is ErrNotFound, and its
	// content has to be given again. A name, type or order that no version can hold
	// is ErrInvalid.
	Add(ctx context.Context, path string, f File) error
}

// A PartWriter is a [VersionWriter] that can store content so that a change in one place
// of it costs little, however small the whole is.
type PartWriter interface {
	// ContentInParts is Content for a file of which other versions have most, such as a
	// database. Content of which they have nothing is better given as a whole. The same
	// content has another id than by Content, and the same one each time.
	ContentInParts(ctx context.Context, r io.Reader) (id string, size int64, err error)
}

// A FolderKeeper is a [VersionWriter] that can take over a folder from the version
// that it is based on.
type FolderKeeper interface {
	// Keep adds the folder at a path, in the order of Add, with the attributes of f and
	// all that the base has below that path. The caller knows that this is what the
	// resource holds, and that no file there has another name. A folder that the base
	// has not is ErrNotFound, and has to be added.
	Keep(ctx context.Context, path string, f File) error
}

// A VersionReader reads what versions of resources hold. Its methods may be
// called from several goroutines at once. An id that is not stored is
// ErrNotFound, what is not what was written ErrCorrupt.
type VersionReader interface {
	// Top returns the top folder of a resource's version, with its own attributes.
	Top(ctx context.Context, version string) (File, error)
	// Folder returns the files of a folder by its id, sorted by the bytes of their
	// names. Hard links in it are paths from the top of the resource.
	Folder(ctx context.Context, id string) ([]File, error)
	// Content opens the content of a regular file, or the target of a symbolic link.
	Content(ctx context.Context, id string) (Content, error)
}

// Content is the bytes of a file, open for reading. ReadAt may be called from
// several goroutines at once.
type Content interface {
	io.ReaderAt
	io.Closer
	Size() int64 // in bytes
}

// maxVersionDepth bounds a walk: versions are not nested deeper.
const maxVersionDepth = 4096

// WalkVersion calls fn for each file of a resource's version with its path from
// the top folder, in the order in which a [VersionWriter] takes them; within a
// folder by name. An error of fn ends the walk and is returned.
func WalkVersion(ctx context.Context, r VersionReader, version string, fn func(path string, f File) error) error {
	top, err := r.Top(ctx, version)
	if err != nil {
		return err
	}
	return walkVersion(ctx, r, "", top, 0, fn)
}

func walkVersion(ctx context.Context, r VersionReader, path string, f File, depth int, fn func(string, File) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := fn(path, f); err != nil || f.Type != Directory {
		return err
	}
	if depth > maxVersionDepth {
		return fmt.Errorf("%.200q…: it is more than %d folders deep: %w", path, maxVersionDepth, ErrCorrupt)
	}
	files, err := r.Folder(ctx, f.ID)
	if err != nil {
		return err
	}
	for _, child := range files {
		at := child.Name
		if path != "" {
			at = path + "/" + child.Name
		}
		if err := walkVersion(ctx, r, at, child, depth+1, fn); err != nil {
			return err
		}
	}
	return nil
}
