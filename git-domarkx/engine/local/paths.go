package local

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// PathError strips the operation and the path from an error, because callers name them.
func PathError(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// CanonicalPath returns the absolute path of an existing file without symbolic links. Files are recorded under this path.
func CanonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// FileName returns a name of fixed length for the file of a session, a workspace or another text.
func FileName(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
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

// ReadMap reads a file of [WriteMap]. A missing or damaged one has no values.
func ReadMap[V any](path string) (map[string]V, error) {
	all := map[string]V{}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil && (json.Unmarshal(data, &all) != nil || all == nil) {
		all = map[string]V{}
	}
	return all, err
}

// WriteMap replaces a file by values by name, as JSON.
func WriteMap[V any](path string, all map[string]V) error {
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return Replace(path, data)
}

// A Temporary is a file without a name, where the system allows that.
type Temporary struct{ *os.File }

// NewTemporary returns a file with what write writes, in a directory, or in that for temporary files if dir is "".
func NewTemporary(dir string, write func(io.Writer) error) (*Temporary, error) {
	f, err := os.CreateTemp(dir, "git-domarkx-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // before it holds anything that a kill could leave
	t := &Temporary{f}
	if err = write(f); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Close closes and removes the file.
func (t *Temporary) Close() error {
	err := t.File.Close()
	if removed := os.Remove(t.Name()); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// Replace is like [atomicfile.Replace], but first creates a missing directory, private to the user.
func Replace(path string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, data)
}

// Stamp returns a text that differs after a file was written or replaced.
func Stamp(info os.FileInfo) string {
	return fmt.Sprintf("%d:%d:%d", info.Size(), info.ModTime().UnixNano(), changeTime(info))
}
