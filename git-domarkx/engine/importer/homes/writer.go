package homes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// A record describes the last import of a home on this machine.
type record struct {
	Workspace string               `json:"workspace"`
	Version   string               `json:"version"` // the resource version
	Commit    string               `json:"commit"`  // the id of the workspace version
	Files     map[string]knownFile `json:"files,omitempty"`
}

// A knownFile identifies an unchanged file, so that its content need not be read again.
type knownFile struct {
	Size int64  `json:"size"`
	Time int64  `json:"time"` // time of the last change, in nanoseconds since 1970
	ID   string `json:"id"`   // id of the content
}

// A writer stores the contents of a home as a version of a resource.
type writer struct {
	*keptDir
	root *os.Root
	to   domarkx.VersionWriter
	warn func(error)
}

// write writes all parts in the order in which a version is walked.
func (w *writer) write(ctx context.Context) error {
	if err := w.directory(ctx, "", 0o755); err != nil {
		return err
	}
	for _, p := range w.Parts {
		if err := w.part(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) directory(ctx context.Context, name string, mode uint32) error {
	w.paths[name] = true
	return w.to.Add(ctx, name, domarkx.File{Type: domarkx.Directory, Mode: mode})
}

// above adds the missing parent directories of a part.
func (w *writer) above(ctx context.Context, name string) error {
	dir := path.Dir(name)
	if dir == "." || w.paths[dir] {
		return nil
	}
	if err := w.above(ctx, dir); err != nil {
		return err
	}
	return w.directory(ctx, dir, 0o755)
}

func (w *writer) part(ctx context.Context, p format.Part) error {
	from := filepath.FromSlash(p.From)
	info, err := w.root.Lstat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return w.skip(from, err)
	}
	if err := w.above(ctx, p.To); err != nil {
		return err
	}
	return w.tree(ctx, from, p.To, 0)
}

// skip warns that a file or directory is left out.
func (w *writer) skip(from string, err error) error {
	w.warn(fmt.Errorf("%s: not kept: %w", filepath.Join(w.top, from), local.PathError(err)))
	return nil
}

// maxHomeDepth limits the nesting of directories in a home.
const maxHomeDepth = 200

// tree writes a directory recursively.
func (w *writer) tree(ctx context.Context, from, to string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	dir, err := w.root.Open(from)
	if err != nil {
		return w.skip(from, err)
	}
	defer dir.Close()
	info, err := dir.Stat()
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory any more")
	}
	if err == nil && depth > maxHomeDepth {
		err = fmt.Errorf("it is more than %d directories deep", maxHomeDepth)
	}
	var entries []os.DirEntry
	if err == nil {
		entries, err = dir.ReadDir(-1)
	}
	if err != nil {
		return w.skip(from, err)
	}
	dir.Close() // close early, or a deep home would need many descriptors
	if err := w.directory(ctx, to, uint32(info.Mode().Perm())); err != nil {
		return err
	}
	for _, e := range entries {
		inside, name := filepath.Join(from, e.Name()), path.Join(to, e.Name())
		if e.IsDir() {
			err = w.tree(ctx, inside, name, depth+1)
		} else {
			err = w.file(ctx, inside, name, e.Type())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) file(ctx context.Context, from, to string, kind os.FileMode) error {
	f := domarkx.File{Type: domarkx.Regular}
	var err error
	var stat knownFile
	switch {
	case kind.IsRegular():
		f, stat, err = w.regular(ctx, from, w.before.Files[to])
	case kind&os.ModeSymlink != 0:
		f = domarkx.File{Type: domarkx.Symlink, Mode: 0o777}
		f.Target, err = w.root.Readlink(from)
	default:
		err = fmt.Errorf("it is no file: %v", kind)
	}
	if _, skipped := errors.AsType[*unreadableFileError](err); skipped || err != nil && !kind.IsRegular() {
		return w.skip(from, err)
	}
	if err != nil {
		return err
	}
	err = w.to.Add(ctx, to, f)
	if errors.Is(err, domarkx.ErrNotFound) { // the store no longer has the content: read the file again
		if f, stat, err = w.regular(ctx, from, knownFile{}); err == nil {
			err = w.to.Add(ctx, to, f)
		}
	}
	if err != nil {
		return err
	}
	w.paths[to] = true
	if stat.ID != "" {
		w.stats[to] = stat
	}
	w.others = w.others || !w.isDocumentPath(to)
	return nil
}

// isDocumentPath reports whether a path of the resource is in the directory of the documents.
func (w *writer) isDocumentPath(to string) bool {
	for _, p := range w.Parts {
		if rel, err := filepath.Rel(filepath.FromSlash(p.From), filepath.FromSlash(w.Documents)); err == nil && filepath.IsLocal(rel) {
			return path.Dir(to) == path.Join(p.To, filepath.ToSlash(rel))
		}
	}
	return false
}

// regular stores the content of a file, unless known shows that it is unchanged. If the file
// cannot be read, it returns an *unreadableFileError.
func (w *writer) regular(ctx context.Context, from string, known knownFile) (domarkx.File, knownFile, error) {
	before, err := w.root.Lstat(from)
	if err == nil && !before.Mode().IsRegular() { // opening a FIFO would block until a writer opens it
		err = errors.New("it is no file any more")
	}
	if err != nil {
		return domarkx.File{}, knownFile{}, &unreadableFileError{err}
	}
	f := domarkx.File{Type: domarkx.Regular, Mode: uint32(before.Mode().Perm())}
	stat := knownFile{Size: before.Size(), Time: before.ModTime().UnixNano()}
	if known.ID != "" && known.Size == stat.Size && known.Time == stat.Time {
		f.ID, f.Size = known.ID, known.Size
		return f, known, nil
	}
	r, err := w.root.Open(from)
	if err != nil {
		return f, stat, &unreadableFileError{err}
	}
	defer r.Close()
	if f.ID, f.Size, err = w.to.Content(ctx, fileReader{r}); err != nil {
		return f, stat, err
	}
	// A file that changes while it is read, or within one tick of the clock, may look the same
	// afterwards. Do not record it, so that the next import reads it again.
	if after, err := r.Stat(); err == nil && f.Size == stat.Size && after.ModTime().Equal(before.ModTime()) && sources.IsSettled(before) {
		stat.ID = f.ID
	}
	return f, stat, nil
}

// An unreadableFileError concerns one file of a home, which is left out.
type unreadableFileError struct{ error }

func (e *unreadableFileError) Unwrap() error { return e.error }

// A fileReader distinguishes errors of reading from those of storing.
type fileReader struct{ f *os.File }

func (r fileReader) Read(p []byte) (int, error) {
	n, err := r.f.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &unreadableFileError{err}
	}
	return n, err
}
