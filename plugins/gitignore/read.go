package gitignore

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// MaxSize is the size in bytes up to which a file with patterns is read. Git accepts larger ones.
const MaxSize = 4 << 20

// ErrNotRegular is the error of reading patterns from a FIFO, a device, a directory or a socket.
var ErrNotRegular = errors.New("it is not a regular file")

// ReadFile reads a file with patterns outside of a work tree, such as info/exclude. A missing file has none. It
// follows symbolic links, as Git does, but does not wait for a FIFO and does not read a device.
func ReadFile(path string) ([]byte, error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	} else if err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRegular // opening a device may have an effect
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO may have replaced the file
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	return io.ReadAll(io.LimitReader(f, MaxSize))
}
