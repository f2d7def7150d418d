package openpocket

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxFile bounds a document that is read, in bytes.
const maxFile = 256 << 20

// create creates a file durably. It returns fs.ErrExist if the file exists.
func (r *resource) create(name string, mode fs.FileMode, data []byte) error {
	native := filepath.FromSlash(name)
	if err := r.makeDir(path.Dir(name)); err != nil {
		return err
	}
	if err := r.root.Reach(native, true); err != nil {
		return err
	}
	f, err := r.root.OpenFile(native, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return explain(name, err)
	}
	err = f.Chmod(mode) // independent of the umask
	if err = errors.Join(err, writeAndClose(f, data)); err != nil {
		return explain(name, errors.Join(err, r.root.Remove(native)))
	}
	return nil
}

// writeAndClose writes to a file durably.
func writeAndClose(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// makeDir creates a directory with its parents.
func (r *resource) makeDir(dir string) error {
	native := filepath.FromSlash(dir)
	if err := r.root.Reach(native, true); err != nil {
		return err
	}
	err := r.root.MkdirAll(native, 0o755)
	if errors.Is(err, fs.ErrExist) { // callers take this error for that of the file
		return domarkx.NewToolError(domarkx.CodeFailed, "%q, or a directory above, is a file", dir)
	}
	if err != nil {
		return explain(dir, err)
	}
	return nil
}

// extend appends to a file durably. It keeps what OpenPocket appends at the same time.
func (r *resource) extend(name string, data []byte) error {
	f, err := r.openRegular(name, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	if err := writeAndClose(f, data); err != nil {
		return explain(name, err)
	}
	return nil
}

func (r *resource) read(name string) ([]byte, error) {
	f, err := r.openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, explain(name, err)
	}
	if info.Size() > maxFile {
		return nil, tooLarge(name)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1)) // it may grow meanwhile
	if err != nil {
		return nil, explain(name, err)
	}
	if len(data) > maxFile {
		return nil, tooLarge(name)
	}
	return data, nil
}

func tooLarge(name string) error {
	return domarkx.NewToolError(domarkx.CodeFailed, "%q is larger than 256 MiB", name)
}

// openRegular opens a regular file. It does not block on a FIFO.
func (r *resource) openRegular(name string, flag int) (*os.File, error) {
	native := filepath.FromSlash(name)
	if err := r.root.Reach(native, true); err != nil {
		return nil, err
	}
	info, err := r.root.Stat(native)
	if err != nil {
		return nil, explain(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, invalid("%q is not a regular file", name)
	}
	f, err := r.root.OpenFile(native, flag, 0)
	if err != nil {
		return nil, explain(name, err)
	}
	return f, nil
}

// names returns the names in a directory, sorted; none if it does not exist.
func (r *resource) names(dir string) ([]string, error) {
	if err := r.root.Reach(filepath.FromSlash(dir), true); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(r.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(dir, err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// explain converts an error of the file system to a ToolError, except fs.ErrExist.
func explain(name string, err error) error {
	var at *fs.PathError
	plain := err
	if errors.As(err, &at) {
		plain = at.Err
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return domarkx.NewToolError(domarkx.CodeNotFound, "%q: no such file or directory", name)
	case strings.Contains(err.Error(), "escapes from parent"): // the os package has no error to compare with
		return domarkx.NewToolError(domarkx.CodeRefused, "%q leads out of the resource", name)
	}
	return domarkx.NewToolError(domarkx.CodeFailed, "%q: %v", name, plain)
}
