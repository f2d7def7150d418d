package odb

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/domarkx/domarkx"
)

// loosePath returns where a loose object is in an object directory.
func loosePath(dir string, id ID) string {
	hex := id.String()
	return dir + string(filepath.Separator) + hex[:2] + string(filepath.Separator) + hex[2:]
}

// maxLooseHeader is the length of the longest header, "commit", a space, 20 digits
// and a NUL, with room to see that one is longer.
const maxLooseHeader = 32

// readLoose returns the type and content of a loose object.
func readLoose(path string) (Type, []byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, nil, err
	}
	if !info.Mode().IsRegular() {
		return 0, nil, errLoose("it is no file")
	}
	// zlib adds less than a thousandth to what it cannot compress.
	if info.Size() > maxObject+maxObject/1000 {
		return 0, nil, errTooLarge(info.Size())
	}
	packed := make([]byte, info.Size())
	if _, err := io.ReadFull(f, packed); err != nil {
		return 0, nil, err
	}
	return decodeLoose(packed)
}

func decodeLoose(packed []byte) (Type, []byte, error) {
	in, err := newInflater(packed)
	if err != nil {
		return 0, nil, err
	}
	defer in.release()
	t, size, start, err := in.looseHeader()
	if err != nil {
		return 0, nil, err
	}
	data, err := in.rest(start, size)
	if err != nil {
		return 0, nil, err
	}
	if in.src.Len() > 0 {
		return 0, nil, errLoose("something follows it")
	}
	return t, data, nil
}

// statLoose returns the type and size that a loose object declares.
func statLoose(path string) (Type, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	packed := make([]byte, 4096)
	n, err := io.ReadFull(f, packed)
	if err != nil && err != io.ErrUnexpectedEOF {
		return 0, 0, errLoose("it is empty")
	}
	in, err := newInflater(packed[:n])
	if err != nil {
		return 0, 0, err
	}
	defer in.release()
	t, size, _, err := in.looseHeader()
	return t, size, err
}

// looseHeader reads the header and returns the bytes of content read with it.
func (f *inflater) looseHeader() (Type, int64, []byte, error) {
	head := make([]byte, maxLooseHeader)
	n, err := io.ReadFull(f.zlib, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return 0, 0, nil, errInflate(err)
	}
	header, content, ok := bytes.Cut(head[:n], []byte{0})
	name, digits, ok2 := bytes.Cut(header, []byte{' '})
	t, ok3 := parseType(string(name))
	size, err := strconv.ParseInt(string(digits), 10, 64)
	if !ok || !ok2 || !ok3 || err != nil || size < 0 || strconv.FormatInt(size, 10) != string(digits) {
		return 0, 0, nil, errLoose("its header is not \"TYPE SIZE\"")
	}
	return t, size, content, nil
}

func errLoose(what string) error {
	return fmt.Errorf("loose object: %w: %s", domarkx.ErrCorrupt, what)
}

// maxPruned bounds how often a file is written again because a collection took it
// before it had its name.
const maxPruned = 16

// writeLoose writes objects into the first object directory, each complete or not
// at all, and returns when all are durable. An object that is already there is
// replaced: an old copy may be damaged, or about to be pruned for its age.
func (d *Database) writeLoose(objects []object) (err error) {
	files := make([]newFile, 0, len(objects))
	defer func() {
		for _, f := range files {
			f.discard()
		}
	}()
	for _, o := range objects {
		f, err := d.createLoose(o)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if err := d.syncContent(files); err != nil {
		return err
	}
	dirs := []string{}
	for i, o := range objects {
		// Each pass can meet a prune; a file that was taken is written again.
		for try := 0; ; try++ {
			err := files[i].rename(loosePath(d.dirs[0], o.id))
			if err == nil {
				break
			}
			if !errors.Is(err, fs.ErrNotExist) || try == maxPruned {
				return writeError("name object", err)
			}
			files[i].discard()
			if files[i], err = d.createLoose(o); err != nil {
				return err
			}
			if err := files[i].f.Sync(); err != nil {
				return writeError("write object", err)
			}
		}
		dirs = append(dirs, filepath.Dir(loosePath(d.dirs[0], o.id)))
	}
	return d.syncNames(dirs)
}

// createLoose writes an object to a temporary file in its fan-out directory,
// which it makes when there is none.
func (d *Database) createLoose(o object) (newFile, error) {
	var header [maxLooseHeader]byte
	packed := deflate(nil, appendHeader(header[:0], o.t, len(o.data)), o.data)
	dir := filepath.Dir(loosePath(d.dirs[0], o.id))
	for try := 0; ; try++ {
		f, err := createTemp(d.dirs[0], filepath.Join(dir, "tmp_obj_"))
		if errors.Is(err, fs.ErrNotExist) && try < maxPruned {
			if err := makeDir(d.dirs[0], dir); err != nil {
				return newFile{}, writeError("make object directory", err)
			}
			continue // a prune removes empty ones
		}
		if err != nil {
			return newFile{}, writeError("create object", err)
		}
		if _, err := f.f.Write(packed); err != nil {
			f.discard()
			return newFile{}, writeError("write object", err)
		}
		return f, nil
	}
}

// A newFile is a file being written under a name that Git removes when it is left
// behind.
type newFile struct {
	f *os.File // nil once it has its name or is discarded
}

// createTemp creates a file named like prefix with a random end, with the
// permissions that Git gives objects.
func createTemp(objects, prefix string) (newFile, error) {
	for {
		name := prefix + strconv.FormatUint(rand.Uint64(), 36)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o444)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return newFile{}, err
		}
		file := newFile{f}
		if mode, shared := sharedMode(objects); shared {
			if err := f.Chmod(mode & 0o444); err != nil {
				file.discard()
				return newFile{}, err
			}
		}
		return file, nil
	}
}

// rename closes the file and gives it its name, in place of what has it.
func (f *newFile) rename(name string) error {
	if err := os.Rename(f.f.Name(), name); err != nil {
		return err
	}
	err := f.f.Close()
	f.f = nil
	return err
}

// discard removes the file, if it has no name yet.
func (f *newFile) discard() {
	if f.f != nil {
		f.f.Close()
		os.Remove(f.f.Name())
		f.f = nil
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
		return os.Chmod(dir, mode)
	}
	return nil
}
