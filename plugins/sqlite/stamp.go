package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// A stamp describes a state of the database file, so that a change can be detected without reading the file.
type stamp struct {
	Stat   beneath.Stat
	Header []byte // the file's header, with a change counter (https://www.sqlite.org/fileformat.html)
}

const headerSize = 100

func (r *resource) in(name string) string { return filepath.Join(r.dir, name) }

func newStamp(f *os.File) (stamp, error) {
	st, err := (&beneath.File{File: f}).Stat()
	if err != nil {
		return stamp{}, err
	}
	header := make([]byte, headerSize)
	n, err := f.ReadAt(header, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return stamp{}, err
	}
	return stamp{st, header[:n]}, nil
}

func (s stamp) write(path string) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return atomicfile.Replace(path, append(data, '\n'))
}

// Changed reports whether the database may have changed since the last commit or load: its stamp differs, or there is a
// log or journal that is not empty. See [domarkx.Versioned].
func (r *resource) Changed(context.Context) (bool, error) {
	data, err := os.ReadFile(r.in(stampName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var then stamp
	if err := json.Unmarshal(data, &then); err != nil {
		return true, nil
	}
	if size(r.wal()) > 0 || size(r.path+"-journal") > 0 {
		return true, nil
	}
	f, err := r.open()
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() // releases no locks, since no connection is open
	now, err := newStamp(f)
	if err != nil {
		return false, err
	}
	return !now.Stat.Same(then.Stat) || !bytes.Equal(now.Header, then.Header), nil
}
