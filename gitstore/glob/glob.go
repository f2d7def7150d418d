// Package glob finds files by patterns below a directory whose own path may contain the characters of patterns, as "[" in
// the path of a repository.
package glob

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Below returns the paths of the files below a directory whose slash-separated names match a pattern (see [fs.Glob]), in
// the order of their names. It ignores directories that cannot be read or do not exist.
func Below(dir, pattern string) ([]string, error) {
	names, err := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return names, err
}
