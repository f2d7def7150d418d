package review

import (
	"bufio"
	"bytes"
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
	root, err := os.OpenRoot(m.Git.WorkTree)
	if err != nil {
		return nil
	}
	defer root.Close()
	at := filepath.FromSlash(f.new)
	info, err := root.Lstat(at)
	if err != nil || info.Size() > blame.MaxSize || info.Size() > *left {
		return nil
	}
	if f.link {
		target, err := root.Readlink(at)
		if err != nil {
			return nil
		}
		return []byte(target)
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	file, err := root.Open(at)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, blame.MaxSize+1))
	if err != nil || len(data) > blame.MaxSize || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil
	}
	*left -= int64(len(data))
	return data
}
