// Package durable writes files that are the old ones or the new ones, whole, whatever
// ends the process or the machine.
package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Aside is how the names of files begin that are not finished.
const Aside = ".new-"

// Sweep removes from a folder the files that a killed process did not finish. Nobody may
// be writing there.
func Sweep(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), Aside) {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Replace makes data the content of a file, which only the user can read. When it
// returns, that survives a power cut; until then readers see what was there before.
func Replace(path string, data []byte) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, Aside)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), os.Remove(f.Name()))
	}
	return SyncFolder(dir)
}
