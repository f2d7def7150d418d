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

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// ImageDir is the directory, beside a session, of the images of an agent's transcript.
const ImageDir = "images"

// exportFiles adds the attached files of a snapshot to the export. This program's own formats
// keep them beside the document. All other formats lose them.
func (m *SessionManager) exportFiles(ctx context.Context, e *Export, info domarkx.Info, r Revision) error {
	if r.Message >= 0 {
		return nil
	}
	files, err := m.store.Files(ctx, info.ID)
	if err != nil {
		return err
	}
	if !IsForm(e.Codec.Name) {
		what := ""
		for _, f := range files {
			if e.Codec.Images && path.Dir(f.Path) == ImageDir { // written where it is shown
				continue
			}
			if what == "" {
				what = "attached files, such as " + f.Path
			}
			e.Losses.AddOne("file", what)
		}
		return nil
	}
	e.Files = files
	e.open = func(f domarkx.AttachedFile) (domarkx.Content, error) {
		return m.store.Attachment(ctx, info.ID, f.SHA256)
	}
	return nil
}

// writeFiles writes the attached files below dir, the directory of the document. If a different
// file is in the place of one of them, it returns a [*RefusedError] and writes nothing.
func (e *Export) writeFiles(dir string) error {
	if len(e.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir) // never write through a link to the outside
	if err != nil {
		return local.PathError(err)
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

// isThere reports whether a file already exists with the right content. If a different file is in
// its place, it returns a [*RefusedError].
func (e *Export) isThere(root *os.Root, f domarkx.AttachedFile) (bool, error) {
	name := filepath.FromSlash(f.Path)
	if !filepath.IsLocal(name) {
		return false, &RefusedError{Reason: "it is not a path on this system"}
	}
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := root.Lstat(name); err == nil {
			return false, &RefusedError{Reason: "a symbolic link that leads nowhere is in its place"}
		}
		return false, nil
	}
	if err != nil {
		return false, local.PathError(err)
	}
	other := &RefusedError{Reason: "another file is there; move it away, or write to another directory"}
	if !info.Mode().IsRegular() || info.Size() != f.Size {
		return false, other
	}
	there, err := root.Open(name)
	if err != nil {
		return false, local.PathError(err)
	}
	defer there.Close()
	content, err := e.open(f)
	if err != nil {
		return false, err
	}
	defer content.Close()
	same, err := local.SameContent(there, io.NewSectionReader(content, 0, content.Size()))
	if err == nil && !same {
		err = other
	}
	return same, err
}

// writeAttached creates a file durably.
func (e *Export) writeAttached(root *os.Root, dir string, f domarkx.AttachedFile) error {
	directory := path.Dir(f.Path)
	if err := root.MkdirAll(filepath.FromSlash(directory), 0o755); err != nil {
		return local.PathError(err)
	}
	aside := filepath.FromSlash(path.Join(directory, ".git-domarkx-"+rand.Text()))
	w, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return local.PathError(err)
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
	err = root.Link(aside, name) // a rename would replace a file that another process creates now
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = root.Rename(aside, name) // a file system without links
	}
	if err != nil {
		return local.PathError(err)
	}
	for ; directory != "."; directory = path.Dir(directory) { // some directories may be new
		if err := atomicfile.SyncDir(filepath.Join(dir, filepath.FromSlash(directory))); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(dir)
}
