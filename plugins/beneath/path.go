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

// Rel returns the slash-separated path of a file relative to top, and whether it is below top. It
// does not resolve the last name of the path, which may be a symbolic link, or a mount whose server died.
func Rel(path, top string) (string, bool) {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	at, err := filepath.Rel(Resolve(top), path)
	if err != nil || at == "." || !filepath.IsLocal(at) {
		return "", false
	}
	return filepath.ToSlash(at), true
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
