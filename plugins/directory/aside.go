package directory

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// asidePrefix begins the name under which a file is written before it takes the place of
// another; asideLength is what random text follows.
const (
	asidePrefix = ".domarkx-"
	asideLength = 26
)

// writeAside gives a file, whose folder is there, a content and a mode at once. Where that
// is written first is noted, so that after a kill Open can take it away: nothing else
// tells it from a file of the user's with such a name.
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
		f.Remove(aside)
	}
	if f.note != "" {
		err = errors.Join(err, os.Remove(f.note))
	}
	return err
}

// sweep removes what a killed process wrote aside.
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
	aside := string(noted) // of a note that was not written whole, a part
	if random, ok := strings.CutPrefix(filepath.Base(aside), asidePrefix); ok && len(random) == asideLength {
		if info, err := f.Lstat(aside); err == nil && info.Mode().IsRegular() {
			if err := f.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return os.Remove(f.note)
}
