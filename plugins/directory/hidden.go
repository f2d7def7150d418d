package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// Files implements the tools for a directory.
type Files struct {
	*os.Root
	hidden map[string]fs.FileInfo // by path, with symbolic links resolved; nil if the path does not exist
	note   string                 // path of the file that names the current temporary file; "" for none
}

// OpenFiles opens the directory at path for the tools. The tools refuse to reach the absolute paths
// in hidden. note is the path of a file in which the tools record their temporary file, so that the
// next OpenFiles can remove it after a kill; the note need not exist. With note "" such a file
// stays.
func OpenFiles(path string, hidden []string, note string) (*Files, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &Files{Root: root, hidden: map[string]fs.FileInfo{}, note: note}
	for _, h := range hidden {
		for _, name := range []string{h, beneath.Resolve(h)} {
			if at, ok := beneath.Rel(name, path); ok {
				at = filepath.FromSlash(at)
				f.hidden[at], _ = root.Lstat(at)
			}
		}
	}
	if err := f.sweep(); err != nil {
		root.Close()
		return nil, fmt.Errorf("removing what a killed process left: %w", err)
	}
	return f, nil
}

// maxLinks bounds the symbolic links that a path may lead through.
const maxLinks = 255

// resolve resolves the symbolic links in the part of a path that exists; the last name only if
// follow is set. It stops at a link that leads out of the directory.
func (f *Files) resolve(path string, follow bool) string {
	real, links := ".", 0
	for rest := strings.Split(path, string(filepath.Separator)); len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		if follow || len(rest) > 0 {
			if target, err := f.Readlink(next); err == nil {
				if links++; links > maxLinks || filepath.IsAbs(target) {
					return next
				}
				rest = append(strings.Split(filepath.FromSlash(target), string(filepath.Separator)), rest...)
				continue
			}
		}
		real = next
	}
	return real
}

// hides reports whether a path without symbolic links is hidden or lies in a hidden directory.
func (f *Files) hides(real string) bool {
	for at := real; at != "."; at = filepath.Dir(at) {
		if _, ok := f.hidden[at]; ok {
			return true
		}
		for _, info := range f.hidden { // by another name, since a file system may ignore case
			if info == nil || !strings.EqualFold(info.Name(), filepath.Base(at)) {
				continue
			}
			if there, err := f.Lstat(at); err == nil && os.SameFile(info, there) {
				return true
			}
		}
	}
	return false
}

// Reach rejects a path from the top that is hidden or lies in a hidden directory, after
// resolving symbolic links; the last name is resolved only if follow is set. Callers use it
// before they pass the path to a method of the root.
func (f *Files) Reach(path string, follow bool) error {
	if len(f.hidden) == 0 || !f.hides(f.resolve(path, follow)) {
		return nil
	}
	return domarkx.NewToolError(domarkx.CodeRefused, "%q is not part of the resource, like the repository's Git directory and mounts", filepath.ToSlash(path))
}

// take rejects a path that is hidden or has something hidden below it.
func (f *Files) take(path string) error {
	if err := f.Reach(path, false); err != nil {
		return err
	}
	real := f.resolve(path, false)
	for h := range f.hidden {
		if !strings.HasPrefix(h, real+string(filepath.Separator)) {
			continue
		}
		if _, err := f.Lstat(h); !errors.Is(err, fs.ErrNotExist) {
			return domarkx.NewToolError(domarkx.CodeRefused, "%q contains %q, which is not part of the resource", filepath.ToSlash(path), filepath.ToSlash(h))
		}
	}
	return nil
}
