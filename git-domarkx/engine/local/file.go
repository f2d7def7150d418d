package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// A File is the [State] in the file local.json in the state directory of a repository.
// Unlike Git's configuration, the file is synced to disk.
type File struct{ git *gitcmd.Git }

// NewFile returns the local state of a repository.
func NewFile(git *gitcmd.Git) File { return File{git} }

// A record is the content of local.json.
type record struct {
	Format int                 `json:"format"` // version of the format: 1
	Values map[string][]string `json:"values"`
}

const maxRecord = 64 << 20 // maximum size of the file in bytes

// All returns the values of a key.
func (s File) All(_ context.Context, key string) ([]string, error) {
	r, err := s.read()
	return r.Values[key], err
}

// Change replaces the values of a key.
func (s File) Change(ctx context.Context, key string, change func(values []string) []string) error {
	dir := s.git.StateDir()
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return s.failed("changing", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "local-lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return s.failed("changing", err)
	}
	defer lock.Close()
	if err := atomicfile.Lock(ctx, lock); err != nil {
		return s.failed("changing", err)
	}
	r, err := s.read()
	if err != nil {
		return err
	}
	values := change(slices.Clone(r.Values[key]))
	if slices.Equal(values, r.Values[key]) {
		return nil
	}
	if r.Values[key] = values; len(values) == 0 {
		delete(r.Values, key)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = atomicfile.Replace(s.path(), append(data, '\n'))
	}
	return s.failed("changing", err)
}

func (s File) path() string { return filepath.Join(s.git.StateDir(), "local.json") }

// read reads local.json. A missing or empty file has no values.
func (s File) read() (r record, err error) {
	data, err := os.ReadFile(s.path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Format, err = 1, nil
	case err != nil:
	case len(data) > maxRecord:
		err = fmt.Errorf("larger than %d bytes: %w", maxRecord, domarkx.ErrCorrupt)
	case len(data) == 0:
		r.Format = 1
	default:
		if err = json.Unmarshal(data, &r); err != nil {
			err = fmt.Errorf("%w: %w; restore the file from a copy, or empty it and trust your sessions again", domarkx.ErrCorrupt, err)
		} else if r.Format != 1 {
			err = fmt.Errorf("format %d: %w", r.Format, domarkx.ErrUnsupported)
		}
	}
	if err != nil {
		return record{}, s.failed("reading", err)
	}
	if r.Values == nil {
		r.Values = map[string][]string{}
	}
	return r, nil
}

func (s File) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %q: %w", doing, s.path(), err)
}
