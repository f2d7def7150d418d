package refdb

import (
	"os"

	"golang.org/x/sys/windows"
)

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	buffer := make([]byte, 256)
	n, err := file.Read(buffer)
	if n > 0 {
		err = nil
	}
	return buffer[:n], err
}

// isNoFile reports whether err means that a path is a directory or does not exist.
func isNoFile(err error) bool {
	return err != nil && (os.IsNotExist(err) || isErr(err, windows.ERROR_DIRECTORY) || isErr(err, windows.ERROR_INVALID_FUNCTION))
}

func isErr(err error, code windows.Errno) bool {
	path, ok := err.(*os.PathError)
	return ok && path.Err == code
}

const errFull = windows.ERROR_DISK_FULL

func isFull(string) bool { return false }

func isReadOnly(err error) bool { return isErr(err, windows.ERROR_WRITE_PROTECT) }

// inherited returns nil, since children do not inherit open files on Windows.
func inherited(*os.File) []*os.File { return nil }
