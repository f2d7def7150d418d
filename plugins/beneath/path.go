package beneath

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Resolve resolves the symbolic links in the part of a path that exists.
func Resolve(path string) string {
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(Resolve(dir), filepath.Base(path))
}

// Within reports whether path is top or below it.
func Within(path, top string) bool {
	return path == top || strings.HasPrefix(path, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
}

// Bare returns an error without the path that the os package added.
func Bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
