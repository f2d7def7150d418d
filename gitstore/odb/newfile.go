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

// A newFile is a file being written. It has no name, or one that Git removes when
// it is left behind; `git prune` does so at any time.
type newFile struct {
	f       *os.File // nil once it is closed or discarded
	temp    string   // its temporary name; "" when it has none
	unnamed bool     // it never had a name
}

// maxPruned bounds how often something is done again because a prune took a file
// or its directory just before.
const maxPruned = 200

// createTemp creates a file named like prefix with a random end, with the
// permissions that Git gives objects. It makes the directory when there is none.
func createTemp(objects, prefix string) (newFile, error) {
	for try := 0; ; try++ {
		name := tempName(prefix)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && try < maxPruned { // a prune removes empty ones
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

// createUnnamed creates a file that no prune can take, as it gets no name before
// its own; where the system has none, one with a temporary name beside path.
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

// openly lets as many read a new file as may read the object directory's others.
func openly(objects string, f newFile) (newFile, error) {
	if mode, shared := sharedMode(objects); shared {
		if err := f.f.Chmod(mode & 0o444); err != nil {
			f.discard()
			return newFile{}, err
		}
	}
	return f, nil
}

// place gives the file its name, in place of what has it. What was written is
// durable already. If a prune takes the file before, it is written again.
func (f *newFile) place(objects, path string) error {
	err := f.name(objects, path)
	for try := 0; errors.Is(err, fs.ErrNotExist) && try < maxPruned; try++ {
		if err = f.again(objects, path); err == nil {
			err = f.name(objects, path)
		}
	}
	return err
}

// name gives the file its name once. The error is [fs.ErrNotExist] when a prune has
// taken it, and when it has had its name.
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

// link gives a file that never had a name its own, in place of what has it.
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

// linkAs links a file that never had a name. It makes the directory when there is
// none, and again while a prune removes it for being empty.
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

// again replaces a file that lost its name by a durable copy.
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

// close closes a file that has its name.
func (f *newFile) close() error {
	err := f.f.Close()
	f.f = nil
	return err
}

// discard closes the file and removes it if it has no name of its own yet.
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

// sharedMode returns the permissions of the object directory when its group may
// write: Git has then given them according to core.sharedRepository, and what is
// made inside must be as open.
func sharedMode(objects string) (mode fs.FileMode, shared bool) {
	info, err := os.Stat(objects)
	if err != nil {
		return 0, false
	}
	return info.Mode() & (fs.ModePerm | fs.ModeSetgid), info.Mode()&0o020 != 0
}

// makeDir makes a directory inside the object directory, as open as that is.
func makeDir(objects, dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if mode, shared := sharedMode(objects); shared {
		if err := os.Chmod(dir, mode); !errors.Is(err, fs.ErrNotExist) { // a prune removes empty ones
			return err
		}
	}
	return nil
}
