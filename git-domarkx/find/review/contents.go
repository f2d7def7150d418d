package review

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// maxHeld is the maximum size in bytes of all contents. Of files beyond it nobody knows who wrote them.
const maxHeld = 512 << 20

// A sides are the contents of a file before and after the change; nil for a side that is not there, too large or
// binary.
type sides struct{ old, new []byte }

func (m *Manager) contents(ctx context.Context, c compared, files []File) ([]sides, error) {
	all := make([]sides, len(files))
	left := int64(maxHeld)
	for i := range files {
		f := &files[i]
		if f.Binary || f.Submodule || len(f.Hunks) == 0 {
			continue
		}
		var err error
		if all[i].old, err = m.blob(ctx, f.oldID, &left); err != nil {
			return nil, err
		}
		if c.to == WorkTree && f.Status != "deleted" {
			all[i].new = m.fromWorkTree(f, &left)
		} else if all[i].new, err = m.blob(ctx, f.newID, &left); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// blob reads a blob; a partial clone may not have it.
func (m *Manager) blob(ctx context.Context, id string, left *int64) ([]byte, error) {
	if strings.Trim(id, "0") == "" {
		return nil, nil
	}
	data, err := blame.ReadBlob(ctx, m.Store, id, min(blame.MaxSize, *left))
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil
	}
	*left -= int64(len(data))
	return data, err
}

// fromWorkTree reads a file of the work tree, or nil if that is not possible: it may have changed since.
func (m *Manager) fromWorkTree(f *File, left *int64) []byte {
	data, err := m.blame().Read(f.new)
	if f.link {
		data, err = m.link(f.new)
	}
	if err != nil || int64(len(data)) > *left {
		return nil
	}
	*left -= int64(len(data))
	return data
}

func (m *Manager) link(path string) ([]byte, error) {
	root, err := os.OpenRoot(m.Git.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	target, err := root.Readlink(filepath.FromSlash(path))
	return []byte(target), err
}
