package document

import (
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A Directory is the directory of a document. It opens only files inside it.
type Directory struct {
	Path   string
	Digest hash.Hash                         // of the document and the files that were included
	Redact func(file []byte) ([]byte, error) // replaces the secrets in an included file; nil if they stay
	root   *os.Root                          // nil until needed
}

// maxInclude is the maximum size of an included file in bytes.
const maxInclude = 16 << 20

var errNotRegular = fmt.Errorf("%w: it is not a regular file", domarkx.ErrInvalid)

// Include reads a file that the document includes, also through links that lead to other files in the directory.
func (d *Directory) Include(name string) ([]byte, error) {
	if err := d.notGit(name); err != nil {
		return nil, err
	}
	data, err := d.read(name, nil, maxInclude)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(d.Digest, "\x00%s\x00%d\x00", name, len(data))
	d.Digest.Write(data)
	if d.Redact != nil {
		return d.Redact(data)
	}
	return data, nil
}

// read reads a regular file of at most most bytes. If seen is not nil, it must be that file.
func (d *Directory) read(name string, seen os.FileInfo, most int64) ([]byte, error) {
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // without it, opening a FIFO would block
	if err != nil {
		return nil, local.PathError(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, local.PathError(err)
	}
	if seen != nil && !os.SameFile(seen, info) {
		return nil, ErrChanged
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, local.PathError(err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: it has more than %d MiB", domarkx.ErrInvalid, most>>20)
	}
	return data, nil
}

func (d *Directory) opened() (*os.Root, error) {
	if d.root == nil {
		root, err := os.OpenRoot(d.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, local.PathError(err))
		}
		d.root = root
	}
	return d.root, nil
}

// notGit returns an error for a path that leads into a .git directory, also through links, which may come from a
// hostile repository. A .git directory may contain credentials.
func (d *Directory) notGit(name string) error {
	root, err := filepath.EvalSymlinks(d.Path)
	if err != nil {
		return local.PathError(err)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		return local.PathError(err)
	}
	within, err := filepath.Rel(root, real)
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(filepath.ToSlash(within), "/") {
		if strings.EqualFold(name, ".git") {
			return fmt.Errorf("%w: the file is in a .git directory, which cannot be included from", domarkx.ErrInvalid)
		}
	}
	return nil
}

// File reads a regular file of at most most bytes by its path, which must satisfy [domarkx.CheckFilePath]. It follows no
// links.
func (d *Directory) File(name string, most int64) ([]byte, error) {
	if err := domarkx.CheckFilePath(name); err != nil {
		return nil, err
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return nil, fmt.Errorf("%w: it is not a path on this system", domarkx.ErrInvalid)
	}
	root, err := d.opened()
	if err != nil {
		return nil, err
	}
	var seen os.FileInfo
	parts := strings.Split(name, "/")
	for i := range parts {
		if seen, err = root.Lstat(filepath.FromSlash(path.Join(parts[:i+1]...))); err != nil {
			return nil, local.PathError(err)
		}
		if seen.Mode()&os.ModeSymlink != 0 {
			return nil, fmt.Errorf("%w: it is, or is behind, a symbolic link", domarkx.ErrInvalid)
		}
	}
	if !seen.Mode().IsRegular() {
		return nil, errNotRegular
	}
	return d.read(name, seen, most)
}

// Close closes the directory.
func (d *Directory) Close() {
	if d.root != nil {
		d.root.Close()
	}
}
