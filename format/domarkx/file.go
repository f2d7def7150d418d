package domarkx

import (
	"cmp"
	"context"
	"fmt"
	"io"
)

// A FileType is the type of a file in a version (inode(7)).
type FileType uint8

// The types of files that a version can hold. Sockets are not among them: they are useless without
// the process that listens.
const (
	Regular FileType = iota + 1
	Directory
	Symlink
	Fifo
	CharDevice
	BlockDevice
)

// String returns the name of the type as shown to users.
func (t FileType) String() string {
	names := [...]string{"unknown file type", "file", "directory", "symbolic link", "FIFO", "character device", "block device"}
	if int(t) >= len(names) {
		t = 0
	}
	return names[t]
}

// A File is a directory entry in a version of a resource. Times are not stored, so equal content,
// names and modes result in equal versions.
type File struct {
	Name string // any bytes except NUL and slash; "" for the resource's top directory
	Type FileType
	Mode uint32 // permission, set-id and sticky bits (07777)

	// ID identifies the content of a regular file, the target of a symbolic link, or the entries of
	// a directory. It is opaque, and equal for equal content. It is "" for the other types.
	ID   string
	Size int64 // of a regular file, in bytes

	// Target is the target of a symbolic link; any bytes except NUL. It is set for writing only: a
	// [VersionReader] returns it from Content.
	Target string

	HasOwner     bool   // whether the resource has owners of files, as containers do
	UID, GID     uint32 // if HasOwner
	Major, Minor uint32 // of a device

	// HardLink is the path of an earlier entry of the same file, from the resource's top directory;
	// "" if there is none. The earlier entry precedes this one in a walk, and both have the same
	// type, mode, ID and size.
	HardLink string

	Xattrs []Xattr // sorted by name
}

// An Xattr is an extended attribute of a file (xattr(7)).
type Xattr struct {
	Name  string // with its namespace, such as "user.comment"
	Value []byte
}

// A VersionWriter stores the files of a resource. Files are added in the order of a walk: first the
// top directory, whose path is "", then each directory before its entries, and all of its entries
// before anything else. The names within a directory may be in any order. An error about a file
// names its path.
type VersionWriter interface {
	// Content stores the content of a regular file, and returns its id and its size in bytes. It
	// may be called from several goroutines at once. Its memory does not depend on the size.
	Content(ctx context.Context, r io.Reader) (id string, size int64, err error)
	// Add adds the file at a path (slash-separated, from the resource's top directory). It ignores
	// f.Name. The ID of a regular file may be from an earlier version; if it is not stored any more,
	// the error is ErrNotFound and the caller must store the content again. A name, type or order
	// that a version cannot hold is ErrInvalid.
	Add(ctx context.Context, path string, f File) error
}

// A PartWriter is a [VersionWriter] that can store content in parts, so that a small change of a
// large file takes little space.
type PartWriter interface {
	// ContentInParts is like Content, for a file that mostly repeats content of other versions,
	// such as a database. Use Content for any other file. The id differs from the one that Content
	// returns for the same bytes; equal bytes always have the same id.
	ContentInParts(ctx context.Context, r io.Reader) (id string, size int64, err error)
}

// A DirectoryKeeper is a [VersionWriter] that can reuse a directory of the version that it is based
// on.
type DirectoryKeeper interface {
	// Keep adds the directory at a path, in the order of Add, with the attributes of f and with
	// everything below that path in the base version. The caller guarantees that the resource has
	// the same files there, and that none of them has a hard link elsewhere. If the base version
	// has no such directory, the error is ErrNotFound, and the caller must add the directory and
	// its files.
	Keep(ctx context.Context, path string, f File) error
}

// A VersionReader reads the files in versions of resources. Its methods may be called concurrently.
// An id that is not stored is ErrNotFound; damaged content is ErrCorrupt.
type VersionReader interface {
	// Top returns the top directory of a resource's version, with its own attributes.
	Top(ctx context.Context, version string) (File, error)
	// Directory returns the entries of the directory with that id, sorted by the bytes of their names.
	// Hard links are paths from the resource's top directory.
	Directory(ctx context.Context, id string) ([]File, error)
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

// ReadContent returns the bytes of a file or the target of a symbolic link, given by its ID. It returns ErrCorrupt if there are
// more than most.
func ReadContent(ctx context.Context, r VersionReader, id string, most int64) ([]byte, error) {
	c, err := r.Content(ctx, id)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Size() > most {
		return nil, fmt.Errorf("content of %d bytes, expected at most %d: %w", c.Size(), most, ErrCorrupt)
	}
	data := make([]byte, c.Size())
	if n, err := c.ReadAt(data, 0); n < len(data) {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return data, nil
}

// maxVersionDepth limits how deep the directories of a version may be nested.
const maxVersionDepth = 4096

// WalkVersion calls fn for each file of a resource's version with its path from the top directory,
// in the order of a [VersionWriter], and by name within a directory. It stops at the first error of
// fn and returns it. Directories that are nested too deeply are ErrCorrupt.
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
		return fmt.Errorf("%.200q…: it is more than %d directories deep: %w", path, maxVersionDepth, ErrCorrupt)
	}
	files, err := r.Directory(ctx, f.ID)
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
