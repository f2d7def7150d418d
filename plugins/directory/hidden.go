package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
)

// A Folder is a folder that the tools work in.
type Files struct {
	*os.Root
	hidden map[string]fs.FileInfo // by path from the top, without symbolic links; nil where nothing is
	note   string                 // file that says what is being written aside; "" for none
}

// Open opens a folder. What is hidden, by absolute paths, is no part of it: the tools
// do not reach it where it lies in the folder. note is the path of a file, which needs not be
// there, for what a killed process leaves in the folder; with "" that stays.
func OpenFiles(path string, hidden []string, note string) (*Files, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	f := &Files{Root: root, hidden: map[string]fs.FileInfo{}, note: note}
	top, err := filepath.EvalSymlinks(path)
	if err != nil {
		root.Close()
		return nil, err
	}
	for _, h := range hidden {
		if real, err := filepath.EvalSymlinks(h); err == nil {
			h = real
		} else if real, err := filepath.EvalSymlinks(filepath.Dir(h)); err == nil { // a mount whose program is gone
			h = filepath.Join(real, filepath.Base(h))
		}
		at, err := filepath.Rel(top, h)
		if err != nil || at == "." || !filepath.IsLocal(at) {
			continue
		}
		f.hidden[at], _ = root.Lstat(at)
	}
	if err := f.sweep(); err != nil {
		root.Close()
		return nil, fmt.Errorf("removing what a killed process left: %w", err)
	}
	return f, nil
}

// maxLinks bounds how many symbolic links a path may lead over.
const maxLinks = 255

// resolve returns a path without symbolic links, as far as it is there; the last
// name is followed as well if that is asked for. What leads out of the folder is
// returned as far as it does not.
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

// hides reports whether a path without symbolic links is hidden, or lies in what is.
func (f *Files) hides(real string) bool {
	for at := real; at != "."; at = filepath.Dir(at) {
		if _, ok := f.hidden[at]; ok {
			return true
		}
		for _, info := range f.hidden { // by another name: a file system may ignore case
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

// Reach refuses a path from the top that is hidden, or lies in what is, wherever its
// symbolic links lead; the last name's only if they are to be followed. It is asked
// before the path is used by the methods of the root.
func (f *Files) Reach(path string, follow bool) error { return f.reach(path, follow) }

// reach is Reach.
func (f *Files) reach(path string, follow bool) error {
	if len(f.hidden) == 0 || !f.hides(f.resolve(path, follow)) {
		return nil
	}
	return toolError(domarkx.CodeRefused, "%q is no part of the resource: the repository's Git directory and mounts are left alone", filepath.ToSlash(path))
}

// take refuses a path that is hidden, or that something hidden lies below.
func (f *Files) take(path string) error {
	if err := f.reach(path, false); err != nil {
		return err
	}
	real := f.resolve(path, false)
	for h := range f.hidden {
		if !strings.HasPrefix(h, real+string(filepath.Separator)) {
			continue
		}
		if _, err := f.Lstat(h); !errors.Is(err, fs.ErrNotExist) {
			return toolError(domarkx.CodeRefused, "%q holds %q, which is no part of the resource and is left alone", filepath.ToSlash(path), filepath.ToSlash(h))
		}
	}
	return nil
}
