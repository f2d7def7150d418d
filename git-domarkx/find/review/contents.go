package review

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

// maxHeld is the maximum size in bytes of all contents. Of files beyond it nobody knows who wrote them.
const maxHeld = 512 << 20

// A sides are the contents of a file before and after the change; nil for a side that is not there, too large or
// binary.
type sides struct{ old, new []byte }

// contents reads the contents of the files.
func (m *Manager) contents(ctx context.Context, c compared, files []File) ([]sides, error) {
	all := make([]sides, len(files))
	blobs, err := m.Git.Start(ctx, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(blobs.Stdout)
	left := int64(maxHeld)
	read := func(id string) ([]byte, error) {
		if strings.Trim(id, "0") == "" {
			return nil, nil
		}
		if _, err := io.WriteString(blobs.Stdin, id+"\n"); err != nil {
			return nil, err
		}
		return readBlob(in, &left)
	}
	for i := range files {
		f := &files[i]
		if f.Binary || f.Submodule || len(f.Hunks) == 0 {
			continue
		}
		if all[i].old, err = read(f.oldID); err != nil {
			break
		}
		if c.to == WorkTree && f.Status != "deleted" {
			all[i].new = m.fromWorkTree(f, &left)
			continue
		}
		if all[i].new, err = read(f.newID); err != nil {
			break
		}
	}
	_ = blobs.Stdin.Close() // git ends whatever that returns
	_, _ = io.Copy(io.Discard, in)
	if failed := blobs.Wait(); failed != nil {
		err = failed
	}
	return all, err
}

// readBlob reads an answer of git cat-file --batch: ID SP TYPE SP SIZE LF CONTENT LF, or ID SP missing LF.
func readBlob(in *bufio.Reader, left *int64) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	var id, kind string
	var size int64
	if _, err := fmt.Sscanf(head, "%s %s %d", &id, &kind, &size); err != nil {
		return nil, nil // a partial clone may not have it
	}
	if size > blame.MaxSize || size > *left {
		_, err := io.CopyN(io.Discard, in, size+1)
		return nil, err
	}
	*left -= size
	data := make([]byte, size+1)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	return data[:size], nil
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

// link reads a symbolic link of the work tree.
func (m *Manager) link(path string) ([]byte, error) {
	root, err := os.OpenRoot(m.Git.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	target, err := root.Readlink(filepath.FromSlash(path))
	return []byte(target), err
}
