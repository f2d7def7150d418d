package mountd

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// registration is the note that a server writes about its mount. The server holds a lock
// on the note while it serves. Commands find the repository's mounts by these notes.
type registration struct {
	Dir string `json:"dir"`
	PID int    `json:"pid"`

	file    *os.File
	control net.Listener // of the socket; nil if there is none
}

// register writes the note about a mount on dir. In a read-only repository it writes none, and the registration does nothing.
func register(ctx context.Context, git *gitcmd.Git, dir string) (*registration, error) {
	path, err := registrationPath(git.CommonDir, dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &registration{}, ignoreReadOnly(err)
	}
	var file *os.File
	for ours := false; !ours; ours = isFileAt(file, path) { // until no other server removes the file before it is locked
		if file != nil {
			file.Close()
		}
		if file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return &registration{}, ignoreReadOnly(err)
		}
		if err := lockSoon(ctx, file); err != nil {
			return nil, errors.Join(fmt.Errorf("mounting on %q: another process serves a mount there, or is about to: %w", dir, err), file.Close())
		}
	}
	r := &registration{Dir: dir, PID: os.Getpid(), file: file}
	return r, errors.Join(file.Truncate(0), json.NewEncoder(file).Encode(r))
}

// isFileAt reports whether a path still refers to an open file.
func isFileAt(file *os.File, path string) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(there, open)
}

// lockSoon takes a lock. It retries for a while, because a process that is exiting may still hold it.
func lockSoon(ctx context.Context, file *os.File) error {
	for try := 0; ; try++ {
		err := atomicfile.TryLock(file)
		if err == nil || try == 300 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits for a moment, or until the command is cancelled.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(10 * time.Millisecond):
		return nil
	}
}

func ignoreReadOnly(err error) error {
	if errors.Is(err, syscall.EROFS) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

// end closes the socket and removes the note, unless "unmount --force" has removed the
// note and another server has written its own.
func (r *registration) end() error {
	if r.file == nil {
		return nil
	}
	if r.control != nil {
		r.control.Close()
	}
	var err error
	if path := r.file.Name(); isFileAt(r.file, path) {
		err = removeNote(path)
	}
	return errors.Join(err, r.file.Close())
}

// removeNote removes a note and the socket that belongs to it.
func removeNote(path string) error {
	if err := os.Remove(controlPath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Remove(path)
}

// registrationPath returns the path of the note about a mount on dir, in the repository with the given common directory.
func registrationPath(commonDir, dir string) (string, error) {
	dir, err := mountpoint.Resolve(dir)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(commonDir, "domarkx", "mounts", fmt.Sprintf("%x", sum[:8])), nil
}
