package version

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// Top returns the top directory of a version with its own attributes, which are the default ones if the version does not
// store any. See [domarkx.VersionReader].
func (s Reader) Top(_ context.Context, version string) (domarkx.File, error) {
	top := domarkx.File{Type: domarkx.Directory, Mode: modeDirectory, ID: version}
	self, _, err := s.directoryOf(version)
	if err != nil {
		return top, fmt.Errorf("version %s: %w", version, err)
	}
	if self != nil {
		top = *self
		top.ID = version
	}
	return top, nil
}

// Directory returns the files in a directory, sorted by the bytes of their names. See
// [domarkx.VersionReader].
func (s Reader) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, children, err := s.directoryOf(id)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", id, err)
	}
	files := make([]domarkx.File, len(children))
	for i := range children {
		files[i] = children[i].File
		f := &files[i]
		if !children[i].object.IsZero() {
			f.ID = contentID(children[i].object, children[i].chunks)
		}
		if f.Type != domarkx.Regular {
			continue
		}
		if f.Size, err = s.contentSize(children[i].object, children[i].chunks); err != nil {
			return nil, fmt.Errorf("directory %s: %q: %w", id, f.Name, err)
		}
	}
	return files, nil
}

// directoryOf reads a directory. It does not set the sizes and ids of the files.
func (s Reader) directoryOf(id string) (self *domarkx.File, children []child, err error) {
	tree, err := odb.ParseID(id)
	if err != nil {
		return nil, nil, err
	}
	entries, err := s.db.Tree(tree)
	if err != nil {
		return nil, nil, err
	}
	data, err := s.sidecar(entries)
	if err != nil {
		return nil, nil, err
	}
	return decodeDirectory(entries, data)
}

// sidecar returns the content of a directory's sidecar, or nil if the directory has none.
func (s Reader) sidecar(entries []odb.TreeEntry) ([]byte, error) {
	id, err := sidecarOf(entries)
	if err != nil || id.IsZero() {
		return nil, err
	}
	if _, size, err := s.db.Size(id); err != nil {
		return nil, err
	} else if size > maxSidecar {
		return nil, fmt.Errorf("%s: %w: it has %d bytes", sidecarName, domarkx.ErrCorrupt, size)
	}
	data, err := s.db.Blob(id)
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s: %w: it is empty", sidecarName, domarkx.ErrCorrupt)
	}
	return data, err
}

// contentID returns the ID of [domarkx.File] for content: that of its blob, and for content in chunks also "+" and the id
// of its chunk tree.
func contentID(object, chunks odb.ID) string {
	if chunks.IsZero() {
		return object.String()
	}
	return object.String() + "+" + chunks.String()
}

// ParseContentID parses the ID of a [domarkx.File] that is not a directory. chunks is zero unless the content is stored in
// chunks. It returns [domarkx.ErrInvalid] for anything else.
func ParseContentID(id string) (object, chunks odb.ID, err error) {
	first, second, large := strings.Cut(id, "+")
	if object, err = odb.ParseID(first); err == nil && large {
		chunks, err = odb.ParseID(second)
	}
	return object, chunks, err
}

// contentSize returns the size of content in bytes. It returns [domarkx.ErrCorrupt] if object is not a blob, too large for one
// blob, or not a pointer to chunks.
func (s Reader) contentSize(object, chunks odb.ID) (int64, error) {
	kind, size, err := s.db.Size(object)
	switch {
	case err != nil:
		return 0, err
	case kind != odb.Blob:
		return 0, fmt.Errorf("object %s: %w: it is a %s, expected a blob", object, domarkx.ErrCorrupt, kind)
	case size > chunked.Threshold:
		return 0, fmt.Errorf("blob %s: %w: %d bytes in one piece", object, domarkx.ErrCorrupt, size)
	case chunks.IsZero():
		return size, nil
	}
	data, err := s.db.Blob(object)
	if err != nil {
		return 0, err
	}
	p, err := chunked.DecodePointer(s.db.Hash(), data)
	if err != nil || p.Chunks != chunks {
		return 0, fmt.Errorf("blob %s: %w: it is not a pointer to %s", object, domarkx.ErrCorrupt, chunks)
	}
	return p.Size, nil
}

// Content opens the content of a regular file, or the target of a symbolic link. See
// [domarkx.VersionReader].
func (s Reader) Content(ctx context.Context, id string) (domarkx.Content, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	object, chunks, err := ParseContentID(id)
	if err != nil {
		return nil, fmt.Errorf("content: %w", err)
	}
	if !chunks.IsZero() {
		large, _, err := chunked.Open(s.db, object, chunks)
		if err != nil {
			return nil, err
		}
		return large, nil
	}
	size, err := s.contentSize(object, chunks)
	if err != nil {
		return nil, err
	}
	return &blobContent{size, sync.OnceValues(func() ([]byte, error) {
		data := make([]byte, size)
		return data, s.db.BlobInto(object, data)
	})}, nil
}

// A blobContent is content in one blob, which is read once, when a part of it is needed.
type blobContent struct {
	size int64
	data func() ([]byte, error)
}

// Size returns the size in bytes.
func (b *blobContent) Size() int64 { return b.size }

// Bytes returns the whole content, which the caller must not change.
func (b *blobContent) Bytes() ([]byte, error) { return b.data() }

// ReadAt implements [io.ReaderAt].
func (b *blobContent) ReadAt(p []byte, off int64) (int, error) {
	data, err := b.data()
	if err != nil || len(p) == 0 {
		return 0, err
	}
	return bytes.NewReader(data).ReadAt(p, off)
}

// Close does nothing.
func (*blobContent) Close() error { return nil }

var _ domarkx.VersionReader = Reader{}
