package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// TempPrefix is the prefix of the names of unfinished files.
const TempPrefix = ".new-"

// A File is written beside the file that it replaces, where possible without a name, so that a kill
// leaves nothing of it.
type File struct {
	*os.File
	path string
	temp string // its own path; "" while it has none
	done bool
}

// New opens a new file in a directory, with that mode less the umask. [File.Place] gives it a name there.
func New(dir string, perm fs.FileMode) (*File, error) {
	f := &File{}
	var err error
	if f.File, err = CreateUnnamed(dir, perm); errors.Is(err, errors.ErrUnsupported) {
		f.temp = tempName(dir)
		f.File, err = os.OpenFile(f.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func tempName(dir string) string {
	return filepath.Join(dir, TempPrefix+strconv.FormatUint(rand.Uint64(), 36))
}

// Create opens a new file, with that mode whatever the umask, that [File.Commit] moves to a
// path. Until then, the path has its previous content.
func Create(path string, perm fs.FileMode) (*File, error) {
	f, err := New(filepath.Dir(path), perm)
	if err != nil {
		return nil, err
	}
	f.path = path
	if err := f.Chmod(perm); err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	return f, nil
}

// Place gives a new file its name. It must be called once, with a path at which there is no file. It does not sync or close the file.
func (f *File) Place(path string) error {
	if f.temp == "" {
		return Link(f.File, path)
	}
	err := os.Rename(f.temp, path)
	if err == nil {
		f.temp = ""
	}
	return err
}

// Commit syncs the file, renames it to its path and syncs the directory. It closes the file.
// After an error before the rename, the path is unchanged.
func (f *File) Commit() error {
	err := f.Sync()
	if err == nil {
		err = f.name()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.temp, f.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", f.path, err), f.Abort())
	}
	f.done = true
	return SyncDir(filepath.Dir(f.path))
}

// CommitNew is Commit for a path that must not exist: if it does, the error is [fs.ErrExist].
func (f *File) CommitNew() error {
	defer f.Abort() //nolint:errcheck // the path has the content
	err := f.Sync()
	switch { // unlike a rename, a link never replaces a file
	case err != nil:
	case f.temp == "":
		err = Link(f.File, f.path)
	default:
		err = os.Link(f.temp, f.path)
	}
	if err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(f.path)); err != nil {
		return errors.Join(err, os.Remove(f.path))
	}
	return nil
}

// name gives the file a name that it can be renamed from.
func (f *File) name() error {
	for f.temp == "" {
		temp := tempName(filepath.Dir(f.path))
		err := Link(f.File, temp)
		if err == nil {
			f.temp = temp
		} else if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// Abort closes the file, and removes it unless Place has named it. It does nothing after Commit.
func (f *File) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	f.Close()
	if f.temp == "" {
		return nil
	}
	return os.Remove(f.temp)
}

// Replace replaces the content of a file, which only the user can read. The directory must
// exist.
func Replace(path string, data []byte) error {
	f, err := Create(path, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write %q: %w", path, err), f.Abort())
	}
	return f.Commit()
}

// Remove removes a file. A missing one is not an error.
func Remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// MkdirAll creates a directory and its missing parents, and makes them durable.
func MkdirAll(dir string, perm fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil {
		return mustBeDir(dir, info)
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, perm); err != nil {
		info, missing := os.Stat(dir)
		if missing != nil {
			return err
		}
		if err := mustBeDir(dir, info); err != nil { // otherwise another process created it at the same time
			return err
		}
	}
	return SyncDir(parent)
}

// mustBeDir returns the error of [os.MkdirAll] for a file in the place of a directory. It is not
// [fs.ErrExist], which callers would take for a file that already has the wanted name.
func mustBeDir(dir string, info fs.FileInfo) error {
	if info.IsDir() {
		return nil
	}
	return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
}

// Sweep removes the unfinished files that killed processes left in a directory. No process
// may be writing there.
func Sweep(dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), TempPrefix) {
			if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrLocked reports that another process, or another open file of this one, has the lock.
var ErrLocked = errors.New("locked by another process")

// Lock locks an open file until it is closed or the process ends. It waits while another process
// holds the lock. Its errors are those of [TryLock], and that of ctx.
func Lock(ctx context.Context, f *os.File) error {
	const first, longest = time.Millisecond, 20 * time.Millisecond
	for pause := first; ; pause = min(pause*2, longest) {
		if err := TryLock(f); !errors.Is(err, ErrLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the lock of %q: %w", f.Name(), context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}
