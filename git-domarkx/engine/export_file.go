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

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// WriteFile writes the document to a file. If it fails or is interrupted, a regular file keeps its old content. Devices and
// pipes are written to directly. If path is a symbolic link to an existing file, it writes that file.
func (e *Export) WriteFile(path string) error {
	target := path
	if led, err := filepath.EvalSymlinks(path); err == nil {
		target = led
	}
	old, err := os.Stat(target)
	switch {
	case err == nil && !old.Mode().IsRegular():
		var f *os.File
		if f, err = os.OpenFile(target, os.O_WRONLY, 0); err == nil {
			err = errors.Join(e.Content(f), f.Close())
		}
	case err == nil:
		err = e.replaceAt(path, target, old.Mode().Perm())
	case errors.Is(err, fs.ErrNotExist):
		err = e.replaceAt(path, target, 0o644)
	}
	if err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	return nil
}

// replaceAt writes the attached files beside path and the document to target.
func (e *Export) replaceAt(path, target string, mode fs.FileMode) error {
	if err := e.writeFiles(filepath.Dir(path)); err != nil {
		return err
	}
	if e.Beside != nil {
		if err := e.Beside(path); err != nil {
			return err
		}
	}
	return e.replace(target, mode)
}

// replace replaces a file with the document, atomically and durably.
func (e *Export) replace(path string, mode fs.FileMode) error {
	f, err := atomicfile.Create(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory %q does not exist; create it first", filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	if err := e.Content(f); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Commit()
}

// WriteIn durably writes the document to its place in the directory of the format's program, and returns its path. It
// chooses a path that is free or already holds this document. A format without such a program uses the name of the session
// and replaces an existing file. A new file of a program gets the mode before it has its name.
func (e *Export) WriteIn(dir string, mode fs.FileMode) (string, error) {
	path, err := e.writeIn(dir, mode)
	if err != nil {
		err = fmt.Errorf("writing below %q: %w", dir, err)
	}
	return path, err
}

func (e *Export) writeIn(dir string, mode fs.FileMode) (string, error) {
	if e.Codec.Place == nil {
		extension := ""
		if len(e.Codec.Extensions) > 0 {
			extension = e.Codec.Extensions[0]
		}
		path := filepath.Join(dir, filepath.FromSlash(e.Name+extension))
		if err := atomicfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		return path, e.WriteFile(path)
	}
	if err := atomicfile.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	f, err := e.aside(dir)
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := errors.Join(f.Chmod(mode), f.Sync()); err != nil {
		return "", err
	}
	for attempt := e.first; ; attempt++ {
		place, err := e.placeOf(f, attempt)
		if err != nil {
			return "", err
		}
		path := filepath.Join(dir, filepath.FromSlash(place.Path))
		if err := atomicfile.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		done, err := settleAt(path, f)
		if err != nil {
			return path, err
		}
		if done {
			return path, atomicfile.SyncDir(filepath.Dir(path))
		}
	}
}

// settleAt tries to create path as a link to f, and reports whether path now has the content of
// f. It does not replace an existing file.
func settleAt(path string, f *os.File) (bool, error) {
	err := os.Link(f.Name(), path) // a rename would replace a file that another process creates now
	if err == nil {
		return true, nil
	}
	there, openErr := os.Open(path)
	if errors.Is(openErr, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) { // a file system without links
		return true, os.Rename(f.Name(), path)
	}
	if openErr != nil {
		return false, openErr
	}
	defer there.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	same, err := local.SameContent(there, f)
	if same && err == nil {
		err = atomicfile.Sync(there)
	}
	return same, err
}

// aside writes the document to a new file in dir. The caller removes the file.
func (e *Export) aside(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, ".git-domarkx-*")
	if err != nil {
		return nil, err
	}
	if err := e.Content(f); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// placeOf returns the place of the document in its program's directory. f contains the document.
func (e *Export) placeOf(f *os.File, attempt int) (format.Place, error) {
	info, err := f.Stat()
	if err != nil {
		return format.Place{}, err
	}
	place, err := e.Codec.Place(format.File{Path: e.Name, Content: f, Size: info.Size()}, attempt)
	if err != nil {
		err = fmt.Errorf("session %q: %w", e.Name, err)
	}
	return place, err
}

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
