package importer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// Limits of the files that are imported with a document: bytes per file, bytes in total, and number of files.
const (
	maxFilesSize  = 100 << 20
	maxFilesCount = 10_000
)

// A documentDir is the directory of a document. It opens only files inside it, and follows no symbolic links.
type documentDir struct {
	dir  string
	root *os.Root
}

func openDocumentDir(dir string) (*documentDir, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, local.PathError(err))
	}
	return &documentDir{dir, root}, nil
}

func (b *documentDir) close() { b.root.Close() }

// open opens a regular file by its path, which must satisfy [domarkx.CheckFilePath].
func (b *documentDir) open(name string) (*os.File, os.FileInfo, error) {
	if err := domarkx.CheckFilePath(name); err != nil {
		return nil, nil, err
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, nil, fmt.Errorf("%w: it is not a path on this system", domarkx.ErrInvalid)
	}
	var seen os.FileInfo
	parts := strings.Split(name, "/")
	for i := range parts {
		var err error
		if seen, err = b.root.Lstat(filepath.FromSlash(path.Join(parts[:i+1]...))); err != nil {
			return nil, nil, local.PathError(err)
		}
		if seen.Mode()&os.ModeSymlink != 0 {
			return nil, nil, fmt.Errorf("%w: it is, or is behind, a symbolic link", domarkx.ErrInvalid)
		}
	}
	if !seen.Mode().IsRegular() { // opening a FIFO would block until a writer opens it
		return nil, nil, fmt.Errorf("%w: it is not a regular file", domarkx.ErrInvalid)
	}
	f, err := b.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, local.PathError(err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = local.PathError(err)
	case !os.SameFile(seen, info):
		err = errChanged
	case info.Size() > engine.MaxFileSize:
		err = fmt.Errorf("%w: it has more than %d MiB", domarkx.ErrInvalid, engine.MaxFileSize>>20)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// copyTo copies a file to w and returns its size in bytes. It first calls accept with the beginning of the file; if
// that returns an error, it copies nothing and returns the error.
func (b *documentDir) copyTo(w io.Writer, name string, accept func(head []byte) error) (int64, error) {
	f, _, err := b.open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	head := make([]byte, engine.ImageHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return 0, local.PathError(err)
	}
	if err := accept(head[:n]); err != nil {
		return 0, err
	}
	if _, err := w.Write(head[:n]); err != nil {
		return 0, err
	}
	more, err := io.Copy(w, io.LimitReader(f, engine.MaxFileSize-int64(n)+1))
	size := int64(n) + more
	if err == nil && size > engine.MaxFileSize {
		err = fmt.Errorf("%w: it has more than %d MiB", domarkx.ErrInvalid, engine.MaxFileSize>>20)
	}
	return size, err
}
