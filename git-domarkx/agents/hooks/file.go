package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// maxFile is the most bytes of a settings file that are edited.
const maxFile = 32 << 20

// ErrChanged means that another program changed a settings file at the same time.
var ErrChanged = errors.New("another program changed the file at the same time")

// A File is a settings file as it was read.
type File struct {
	Path    string // as the agent names it
	Data    []byte
	Missing bool
	Mode    fs.FileMode // 0600 if it is missing

	target string // Path without symbolic links
}

// ReadFile reads a settings file. It follows symbolic links.
func ReadFile(path string) (*File, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("reading %s: the home directory is not known; set HOME to its absolute path", path)
	}
	target, err := follow(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	f := &File{Path: path, target: target, Mode: 0o600}
	info, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) {
		f.Missing = true
		return f, nil
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("reading %s: it is not a regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("reading %s: it has more than %d MiB", path, maxFile>>20)
	}
	f.Mode = info.Mode().Perm()
	if f.Data, err = os.ReadFile(target); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return f, nil
}

// follow returns a path without symbolic links, also if the file at its end does not exist.
func follow(path string) (string, error) {
	for range 40 {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil // it does not exist
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", errors.New("too many symbolic links")
}

// Replace replaces the content of the file, unless it changed since it was read; then the error
// matches [ErrChanged]. It keeps the mode. With nil, it removes the file.
func (f *File) Replace(data []byte) error {
	if !f.Missing && f.Mode&0o200 == 0 {
		return fmt.Errorf("writing %s: the file is read-only; make it writable first: chmod u+w %s", f.Path, f.target)
	}
	if data == nil {
		if err := f.unchanged(); err != nil {
			return err
		}
		return atomicfile.Remove(f.target)
	}
	if err := os.MkdirAll(filepath.Dir(f.target), 0o700); err != nil {
		return fmt.Errorf("writing %s: %w", f.Path, err)
	}
	temp, err := atomicfile.Create(f.target, f.Mode)
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.Path, err)
	}
	if _, err := temp.Write(data); err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", f.Path, err), temp.Abort())
	}
	if err := f.unchanged(); err != nil { // as late as possible
		return errors.Join(err, temp.Abort())
	}
	if err := temp.Commit(); err != nil {
		return fmt.Errorf("writing %s: %w", f.Path, err)
	}
	return nil
}

// unchanged returns an error if the file is not as it was read.
func (f *File) unchanged() error {
	now, err := os.Open(f.target)
	if errors.Is(err, fs.ErrNotExist) && f.Missing {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w: %w", f.Path, ErrChanged, err)
	}
	defer now.Close()
	data, err := io.ReadAll(io.LimitReader(now, maxFile+1))
	if err != nil || f.Missing || !bytes.Equal(data, f.Data) {
		return fmt.Errorf("writing %s: %w", f.Path, ErrChanged)
	}
	return nil
}
