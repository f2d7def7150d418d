package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// inWorkTree returns the path, without symbolic links, of the file in the work tree that a config's path names. It
// creates the file's parent directories. It returns [domarkx.ErrInvalid] for a path that leads out of the work tree or
// to a file that is not permitted.
func inWorkTree(env domarkx.Env, path string) (string, error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("path %q %s: %w", path, fmt.Sprintf(format, args...), domarkx.ErrInvalid)
	}
	if env.WorkTree == "" {
		return refuse("needs a work tree, and the repository is bare; leave it out for a private database")
	}
	top, err := filepath.EvalSymlinks(env.WorkTree)
	if err != nil {
		return "", err
	}
	local := filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsLocal(local) || local == "." {
		return refuse("is not in the work tree, expected a path relative to its top")
	}
	// An os.Root follows no symbolic link that leads out of it.
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	directory := filepath.Dir(local)
	real, err := filepath.EvalSymlinks(filepath.Join(top, directory))
	if errors.Is(err, fs.ErrNotExist) {
		if err := permitted(env, top, filepath.Join(top, local)); err != nil {
			return refuse("%v", err)
		}
		if err := root.MkdirAll(directory, 0o755); err != nil {
			return "", fmt.Errorf("path %q: %w", path, err)
		}
		real, err = filepath.EvalSymlinks(filepath.Join(top, directory))
	}
	if err != nil {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	file := filepath.Join(real, filepath.Base(local))
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("path %q: %w", path, err)
	}
	if err := permitted(env, top, file); err != nil {
		return refuse("%v", err)
	}
	info, err := os.Lstat(file)
	if err == nil && !info.Mode().IsRegular() {
		return refuse("is not a regular file")
	}
	return file, nil
}

// permitted returns an error if a file must not be a resource: one outside of the work tree, in .git, or in a directory
// that env forbids.
func permitted(env domarkx.Env, top, file string) error {
	if !within(file, top) {
		return errors.New("leads out of the work tree")
	}
	for _, f := range append([]string{filepath.Join(top, ".git")}, env.Forbidden...) {
		if real, err := filepath.EvalSymlinks(f); err == nil {
			f = real
		}
		if within(file, f) {
			return fmt.Errorf("is in %q, which no resource may reach", f)
		}
	}
	return nil
}

// within reports whether path is top or below it.
func within(path, top string) bool {
	return path == top || strings.HasPrefix(path, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
}
