package local

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// PathError strips the operation and the path from an error, because callers name them.
func PathError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// CanonicalPath returns the absolute path of an existing file without symbolic links. Files are
// recorded under this path.
func CanonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// SameContent reports whether two readers return the same bytes.
func SameContent(a, b io.Reader) (bool, error) {
	one, other := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(a, one)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		m, err := io.ReadFull(b, other)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		if !bytes.Equal(one[:n], other[:m]) {
			return false, nil
		}
		if n < len(one) {
			return true, nil
		}
	}
}

// Replace is like [atomicfile.Replace], but first creates a missing directory, private to the
// user.
func Replace(path string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, data)
}
