package cover

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A Folder has the files that cover others, as long as they do. Each process has one of
// its own in a folder that they share, and locks it, so that the others know what is left
// of a process that was killed.
type Folder struct {
	dir string

	mu     sync.Mutex
	own    *os.File // nil until there is a file
	last   int
	closed bool
}

// Open removes what dead processes left in a folder, which need not be there.
func Open(dir string) *Folder {
	f := &Folder{dir: dir}
	if local(dir) != nil {
		return f // there is none, or it cannot be told who is dead; who makes a file is told
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ownPrefix) {
			continue // it is somebody's who has the folder elsewhere, behind a link
		}
		if own, err := lock(filepath.Join(dir, e.Name())); err == nil {
			clearOwn(own.Name()) // the next one tries again
			own.Close()
		}
	}
	return f
}

// ownPrefix begins the names of the folders of processes.
const ownPrefix = "mount-"

// clearOwn removes a process's folder with the files that were made in it, and nothing else.
func clearOwn(dir string) error {
	entries, err := os.ReadDir(dir)
	err = unlessGone(err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			err = errors.Join(err, unlessGone(os.Remove(filepath.Join(dir, e.Name()))))
		}
	}
	return errors.Join(err, unlessGone(os.Remove(dir)))
}

// unlessGone returns the error of a removal, unless somebody else has removed it, or has
// put something of his own into it.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTEMPTY) {
		return nil
	}
	return err
}

// lock opens and locks the folder of a process.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(dir, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := hold(f); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %q: %w", dir, err), f.Close())
	}
	return f, nil
}

// hold locks an open folder, fs.ErrNotExist when another process has removed it before.
func hold(f *os.File) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return err
	}
	return stillThere(f)
}

// stillThere reports fs.ErrNotExist when an open folder is no longer the one at its path.
func stillThere(f *os.File) error {
	is, err := f.Stat()
	if err != nil {
		return err
	}
	at, err := os.Lstat(f.Name())
	if err == nil && !os.SameFile(is, at) {
		err = fs.ErrNotExist
	}
	return err
}

// Close removes all files. Those that still cover others go when they no longer do.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	if f.own == nil {
		return nil
	}
	own := f.own
	f.own = nil
	return errors.Join(clearOwn(own.Name()), own.Close())
}

// Space returns how many bytes the disk has, and how many of them are free for this
// user.
func (f *Folder) Space() (size, free int64, err error) {
	dir, err := f.open()
	if err != nil {
		return 0, 0, err
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("looking for space at %q: %w", dir, err)
	}
	return int64(st.Blocks) * st.Bsize, int64(st.Bavail) * st.Bsize, nil
}

// open makes this process's own folder.
func (f *Folder) open() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return "", os.ErrClosed
	}
	if f.own != nil {
		if err := stillThere(f.own); !errors.Is(err, fs.ErrNotExist) {
			return f.own.Name(), err
		}
		f.own.Close() // somebody has removed it
		f.own = nil
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	if err := local(f.dir); err != nil {
		return "", err
	}
	var err error
	for range tries {
		if f.own, err = makeOwn(f.dir); err == nil {
			return f.own.Name(), nil
		}
	}
	return "", err
}

// makeOwn makes a folder for a process, and locks it. Who looks for what is left may have
// been faster.
func makeOwn(dir string) (*os.File, error) {
	own, err := os.MkdirTemp(dir, ownPrefix+"*")
	if err != nil {
		return nil, err
	}
	f, err := lock(own)
	if err != nil {
		return nil, errors.Join(err, unlessGone(os.Remove(own)))
	}
	return f, nil
}

func (f *Folder) next() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	return strconv.Itoa(f.last) + suffix
}
