package gitrepository

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// The names of the index, and of its replacement, which versions omit.
const (
	indexName = ".git/index"
	asideName = ".git/domarkx-index.lock"
)

// maxIndex limits an index in bytes, since it is read as a whole. An index of a million files has some
// hundred MB, but a small version can contain a sparse file of any size.
const maxIndex = 1 << 30

// index returns the canonical index, nil for none. It syncs the index, since neither Git nor the
// commits of the directory, which exclude it, do.
func (r *repository) index() ([]byte, error) {
	root, err := os.OpenRoot(r.Path())
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// A .git that is a file refers to another repository.
	if info, err := root.Lstat(".git"); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	info, err := root.Lstat(indexName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("it is not a regular file: %w", domarkx.ErrInvalid)
	case info.Size() > maxIndex:
		err = fmt.Errorf("it has %d bytes, expected at most %d: %w", info.Size(), maxIndex, domarkx.ErrInvalid)
	}
	var data []byte
	if err == nil {
		data, err = readDurable(root, indexName)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", indexName, err)
	}
	return canonical(data), nil
}

// readDurable reads a file and syncs it with its directory.
func readDurable(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	directory, err := root.Open(path.Dir(name))
	if err != nil {
		return nil, err
	}
	return data, errors.Join(atomicfile.Sync(f), atomicfile.Sync(directory), directory.Close())
}

func digest(index []byte) string {
	if index == nil {
		return "none"
	}
	sum := sha256.Sum256(index)
	return hex.EncodeToString(sum[:])
}

// Changed reports whether the repository may differ from the version last committed or loaded.
func (r *repository) Changed(ctx context.Context) (bool, error) {
	if !r.made() {
		return true, nil
	}
	known, err := os.ReadFile(r.in(digestName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	index, err := r.index()
	if err != nil {
		return false, err
	}
	if digest(index) != string(known) {
		return true, nil
	}
	return r.Resource.Changed(ctx)
}

// Commit writes the work tree and .git to w.
func (r *repository) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	if err := r.ensure(ctx); err != nil {
		return err
	}
	index, err := r.index()
	if err != nil {
		return err
	}
	out := &writer{VersionWriter: w, index: index}
	out.keeper, _ = w.(domarkx.DirectoryKeeper)
	if err := r.Resource.Commit(ctx, out); err != nil {
		return err
	}
	return r.remember(index)
}

func (r *repository) remember(index []byte) error {
	return atomicfile.Replace(r.in(digestName), []byte(digest(index)))
}

// A writer adds the canonical index to what the directory commits.
type writer struct {
	domarkx.VersionWriter
	keeper domarkx.DirectoryKeeper // nil if the writer is not a DirectoryKeeper
	index  []byte                  // nil for none
}

// Add adds a file. After .git itself it also adds the index.
func (w *writer) Add(ctx context.Context, at string, f domarkx.File) error {
	err := w.VersionWriter.Add(ctx, at, f)
	if err != nil || at != ".git" || f.Type != domarkx.Directory || w.index == nil {
		return err
	}
	id, size, err := w.Content(ctx, bytes.NewReader(w.index))
	if err != nil {
		return err
	}
	return w.VersionWriter.Add(ctx, indexName, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size})
}

// Keep copies a directory from the base. It returns domarkx.ErrNotFound for the top and for .git,
// which contain the index and must be written again.
func (w *writer) Keep(ctx context.Context, at string, f domarkx.File) error {
	if w.keeper == nil || at == "" || at == ".git" {
		return domarkx.ErrNotFound
	}
	return w.keeper.Keep(ctx, at, f)
}

// Load replaces the repository by a version. It runs no git.
func (r *repository) Load(ctx context.Context, from domarkx.VersionReader, version string) error {
	if err := os.Remove(r.in(digestName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(r.in(madeName), nil, 0o600); err != nil {
		return err
	}
	// Load the index first, so that .git does not look changed afterwards; if the directory has
	// no place for it yet, load it last.
	early, err := r.loadIndex(ctx, from, version)
	if err == nil {
		err = r.Resource.Load(ctx, reader{from}, version)
	}
	if err == nil && !early {
		_, err = r.loadIndex(ctx, from, version)
	}
	if err != nil {
		return err
	}
	index, err := r.index()
	if err != nil {
		return err
	}
	return r.remember(index)
}

// loadIndex loads the index of a version. It returns false if .git is not a directory, so that it
// cannot hold an index yet.
func (r *repository) loadIndex(ctx context.Context, from domarkx.VersionReader, version string) (bool, error) {
	root, err := os.OpenRoot(r.Path())
	if err != nil {
		return false, err
	}
	defer root.Close()
	f, ok, err := find(ctx, from, version)
	if err != nil {
		return false, err
	}
	if ok {
		if err := root.Mkdir(".git", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, err
		}
	}
	if info, err := root.Lstat(".git"); err != nil || !info.IsDir() {
		return false, nil
	}
	if ok {
		err = writeIndex(ctx, root, from, f)
	} else if err = root.Remove(indexName); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("writing %q: %w", indexName, err)
	}
	return true, err
}

func writeIndex(ctx context.Context, root *os.Root, from domarkx.VersionReader, f domarkx.File) error {
	content, err := from.Content(ctx, f.ID)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := root.Remove(asideName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	aside, err := root.OpenFile(asideName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(aside, io.NewSectionReader(content, 0, content.Size()))
	if err := errors.Join(err, aside.Sync(), aside.Close()); err != nil {
		return err
	}
	return root.Rename(asideName, indexName)
}

// A reader hides the index of versions from the directory, which excludes it. The ids of the top
// directory and of .git are marked.
type reader struct{ domarkx.VersionReader }

const (
	markTop = "top\x00"
	markGit = "git\x00"
)

func (r reader) Top(ctx context.Context, version string) (domarkx.File, error) {
	f, err := r.VersionReader.Top(ctx, version)
	f.ID = markTop + f.ID
	return f, err
}

func (r reader) Directory(ctx context.Context, id string) ([]domarkx.File, error) {
	id, top := strings.CutPrefix(id, markTop)
	id, git := strings.CutPrefix(id, markGit)
	files, err := r.VersionReader.Directory(ctx, id)
	if err != nil || !top && !git {
		return files, err
	}
	files = slices.Clone(files)
	for i := range files {
		if top && files[i].Name == ".git" && files[i].Type == domarkx.Directory {
			files[i].ID = markGit + files[i].ID
		}
	}
	if git {
		files = slices.DeleteFunc(files, func(f domarkx.File) bool { return f.Name == "index" })
	}
	return files, nil
}

func find(ctx context.Context, from domarkx.VersionReader, version string) (domarkx.File, bool, error) {
	f, err := from.Top(ctx, version)
	for _, name := range []string{".git", "index"} {
		if err != nil || f.Type != domarkx.Directory {
			return f, false, err
		}
		var files []domarkx.File
		if files, err = from.Directory(ctx, f.ID); err != nil {
			return f, false, err
		}
		f = domarkx.File{}
		for _, file := range files {
			if file.Name == name {
				f = file
			}
		}
	}
	return f, f.Type == domarkx.Regular, nil
}
