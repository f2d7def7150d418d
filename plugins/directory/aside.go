package directory

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// asidePrefix begins the names of temporary files that replace another file; asideLength is
// the length of the random text after it.
const (
	asidePrefix = ".domarkx-"
	asideLength = 26
)

// writeAside replaces a file, in an existing directory, atomically. It notes the path of the
// temporary file, so that Open can remove it after a kill: a user's own file could have such
// a name, too.
func (f *Files) writeAside(path string, content []byte, mode fs.FileMode) error {
	aside := filepath.Join(filepath.Dir(path), asidePrefix+strings.ToLower(rand.Text()))
	if f.note != "" {
		if err := os.WriteFile(f.note, []byte(aside), 0o600); err != nil {
			return err
		}
	}
	err := write(f, aside, content, os.O_EXCL, mode)
	if err == nil {
		err = f.Rename(aside, path)
	}
	if err != nil {
		_ = f.Remove(aside)
	}
	if f.note != "" {
		err = errors.Join(err, os.Remove(f.note))
	}
	return err
}

// sweep removes the temporary file of a killed process.
func (f *Files) sweep() error {
	if f.note == "" {
		return nil
	}
	noted, err := os.ReadFile(f.note)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	aside := string(noted) // may be truncated: the process may have died while it wrote the note
	if random, ok := strings.CutPrefix(filepath.Base(aside), asidePrefix); ok && len(random) == asideLength {
		if info, err := f.Lstat(aside); err == nil && info.Mode().IsRegular() {
			if err := f.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.Remove(f.note)
}
