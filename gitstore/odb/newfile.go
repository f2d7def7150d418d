package odb

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// A newFile is a file that is being written. It has no name, or a temporary name. A concurrent `git prune` may remove a
// file with a temporary name at any time.
type newFile struct {
	f       *os.File // nil after the file is closed or discarded
	temp    string   // its temporary name, "" for none
	unnamed bool     // the file has never had a name
}

// maxPruned limits how often an operation is repeated because `git prune` has removed a file or directory.
const maxPruned = 200

// createTemp creates a file with the permissions of Git's objects, whose name is prefix and a random suffix. It creates
// the directory if necessary.
func createTemp(objects, prefix string) (newFile, error) {
	for try := 0; ; try++ {
		name := tempName(prefix)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && try < maxPruned { // prunes remove empty directories
			if err := makeDir(objects, filepath.Dir(prefix)); err != nil {
				return newFile{}, err
			}
			continue
		}
		if err != nil {
			return newFile{}, err
		}
		return openly(objects, newFile{f: f, temp: name})
	}
}

func tempName(prefix string) string { return prefix + strconv.FormatUint(rand.Uint64(), 36) }

// createUnnamed creates a file without a name, which no prune can remove. If the system does not
// support that, the file gets a temporary name beside path.
func createUnnamed(objects, path string) (newFile, error) {
	f, err := atomicfile.CreateUnnamed(filepath.Dir(path), 0o444)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = atomicfile.CreateUnnamed(objects, 0o444)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		return createTemp(objects, filepath.Join(filepath.Dir(path), "tmp_obj_"))
	}
	if err != nil {
		return newFile{}, err
	}
	return openly(objects, newFile{f: f, unnamed: true})
}

// openly gives a new file the permissions that the object directory requires.
func openly(objects string, f newFile) (newFile, error) {
	if mode, shared := sharedMode(objects); shared {
		if err := f.f.Chmod(mode & 0o444); err != nil {
			f.discard()
			return newFile{}, err
		}
	}
	return f, nil
}

// place gives a durable file its name. If a file with that name exists, it is replaced. If a prune has removed the new
// file, place writes it again.
func (f *newFile) place(objects, path string) error {
	err := f.name(objects, path)
	for try := 0; errors.Is(err, fs.ErrNotExist) && try < maxPruned; try++ {
		if err = f.again(objects, path); err == nil {
			err = f.name(objects, path)
		}
	}
	return err
}

// name gives the file its name. It returns [fs.ErrNotExist] if a prune has removed the file, or if the file has this
// name already.
func (f *newFile) name(objects, path string) error {
	if f.unnamed {
		return f.link(objects, path)
	}
	if f.temp == "" {
		return &os.PathError{Op: "name", Path: path, Err: fs.ErrNotExist}
	}
	err := os.Rename(f.temp, path)
	if err == nil {
		f.temp = ""
	}
	return err
}

// link gives an unnamed file its name. If a file with that name exists, it is replaced.
func (f *newFile) link(objects, path string) error {
	err := f.linkAs(objects, path)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := tempName(filepath.Join(filepath.Dir(path), "tmp_obj_"))
	if err := f.linkAs(objects, temp); err != nil {
		return err
	}
	f.temp = temp
	return f.name(objects, path)
}

// linkAs links an unnamed file at a path. It creates the directory if necessary, and again if a prune removes it.
func (f *newFile) linkAs(objects, path string) error {
	for try := 0; ; try++ {
		err := atomicfile.Link(f.f, path)
		if err == nil {
			f.unnamed = false
		}
		if !errors.Is(err, fs.ErrNotExist) || try == maxPruned {
			return err
		}
		if err := makeDir(objects, filepath.Dir(path)); err != nil {
			return err
		}
	}
}

// again writes a durable copy of a file that a prune has removed, to take its place.
func (f *newFile) again(objects, path string) error {
	fresh, err := createUnnamed(objects, path)
	if err != nil {
		return err
	}
	if _, err = io.Copy(fresh.f, io.NewSectionReader(f.f, 0, 1<<62)); err == nil {
		err = fresh.f.Sync()
	}
	if err != nil {
		fresh.discard()
		return err
	}
	f.discard()
	*f = fresh
	return nil
}

func (f *newFile) close() error {
	err := f.f.Close()
	f.f = nil
	return err
}

// discard closes the file. It removes the file if that has only a temporary name.
func (f *newFile) discard() {
	if f.f == nil {
		return
	}
	f.f.Close()
	f.f = nil
	if f.temp != "" {
		os.Remove(f.temp)
	}
}

// sharedMode returns the permissions of the object directory if its group may write, and otherwise 0. Git has set them
// according to core.sharedRepository (git-config(1)), and new files and directories must have them too.
func sharedMode(objects string) (mode fs.FileMode, shared bool) {
	info, err := os.Stat(objects)
	if err != nil {
		return 0, false
	}
	return info.Mode() & (fs.ModePerm | fs.ModeSetgid), info.Mode()&0o020 != 0
}

// makeDir creates a directory inside the object directory, with the permissions of that.
func makeDir(objects, dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if mode, shared := sharedMode(objects); shared {
		if err := os.Chmod(dir, mode); !errors.Is(err, fs.ErrNotExist) { // prunes remove empty directories
			return err
		}
	}
	return nil
}
