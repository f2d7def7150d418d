package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// exportFiles notes the files of a snapshot: they stand beside a document of this
// program's own formats, and are lost in all others.
func (m *SessionManager) exportFiles(ctx context.Context, e *Export, info domarkx.Info, r Revision) error {
	if r.Message >= 0 {
		return nil
	}
	files, err := m.store.Files(ctx, info.ID)
	if err != nil {
		return err
	}
	if !isForm(e.codec.Name) {
		for _, f := range files {
			e.Losses.Add(-1, fmt.Sprintf("the attached file %s", f.Path))
		}
		return nil
	}
	e.Files = files
	e.open = func(f domarkx.AttachedFile) (domarkx.Content, error) {
		return m.store.Attachment(ctx, info.ID, f.SHA256)
	}
	return nil
}

// writeFiles writes the files to where they belong below the folder of the document. When
// one is there with other content, that is a [*RefusedError], and nothing is written.
func (e *Export) writeFiles(dir string) error {
	if len(e.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir) // what a link leads to outside is not written
	if err != nil {
		return pathError(err)
	}
	defer root.Close()
	var missing []domarkx.AttachedFile
	for _, f := range e.Files {
		there, err := e.isThere(root, f)
		if err != nil {
			return fmt.Errorf("attached file %q: %w", f.Path, err)
		}
		if !there {
			missing = append(missing, f)
		}
	}
	for _, f := range missing {
		if err := e.writeAttached(root, dir, f); err != nil {
			return fmt.Errorf("attached file %q: %w", f.Path, err)
		}
	}
	return nil
}

// isThere reports whether a file is there already; with other content it is a [*RefusedError].
func (e *Export) isThere(root *os.Root, f domarkx.AttachedFile) (bool, error) {
	name := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(name) {
		return false, &RefusedError{"it is not a path on this system"}
	}
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := root.Lstat(name); err == nil {
			return false, &RefusedError{"a symbolic link that leads nowhere is in its place"}
		}
		return false, nil
	}
	if err != nil {
		return false, pathError(err)
	}
	other := &RefusedError{"another file is there; move it away, or write to another folder"}
	if !info.Mode().IsRegular() || info.Size() != f.Size {
		return false, other
	}
	there, err := root.Open(name)
	if err != nil {
		return false, pathError(err)
	}
	defer there.Close()
	content, err := e.open(f)
	if err != nil {
		return false, err
	}
	defer content.Close()
	same, err := sameContent(there, io.NewSectionReader(content, 0, content.Size()))
	if err == nil && !same {
		err = other
	}
	return same, err
}

// writeAttached writes a file that is not there, durably.
func (e *Export) writeAttached(root *os.Root, dir string, f domarkx.AttachedFile) error {
	folder := path.Dir(f.Path)
	if err := root.MkdirAll(filepath.FromSlash(folder), 0o755); err != nil {
		return pathError(err)
	}
	aside := filepath.FromSlash(path.Join(folder, ".git-domarkx-"+rand.Text()))
	w, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return pathError(err)
	}
	defer root.Remove(aside)
	content, err := e.open(f)
	if err != nil {
		w.Close()
		return err
	}
	defer content.Close()
	_, err = io.Copy(w, io.NewSectionReader(content, 0, content.Size()))
	if err := errors.Join(err, w.Sync(), w.Close()); err != nil {
		return err
	}
	name := filepath.FromSlash(f.Path)
	err = root.Link(aside, name) // a rename would replace what another process puts there now
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = root.Rename(aside, name) // a file system without links
	}
	if err != nil {
		return pathError(err)
	}
	for ; folder != "."; folder = path.Dir(folder) { // some may be new
		if err := atomicfile.SyncDir(filepath.Join(dir, filepath.FromSlash(folder))); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(dir)
}
