package directory

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

func writeFile(_ context.Context, root *Files, arguments jsonvalue.Value) (domarkx.Result, error) {
	path, err := root.reachable(arguments, "path")
	if err != nil {
		return domarkx.Result{}, err
	}
	content := []byte(text(arguments, "content"))
	if path == "." {
		return domarkx.Result{}, toolError(domarkx.CodeInvalid, "\".\" is the directory itself, expected the path of a file")
	}
	if err := makeParents(root, path); err != nil {
		return domarkx.Result{}, err
	}
	if err := replace(root, path, content); err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	return value("bytes", len(content)), nil
}

// makeParents creates the parent directories of a path.
func makeParents(root *Files, path string) error {
	err := root.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		return nil
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if info, serr := root.Stat(dir); serr == nil && !info.IsDir() {
			return toolError(domarkx.CodeInvalid, "%q is no directory", filepath.ToSlash(dir))
		}
	}
	return explain(path, err)
}

func editFile(_ context.Context, root *Files, arguments jsonvalue.Value) (domarkx.Result, error) {
	path, err := root.reachable(arguments, "path")
	if err != nil {
		return domarkx.Result{}, err
	}
	old, new := []byte(text(arguments, "old_text")), []byte(text(arguments, "new_text"))
	f, info, err := open(root, path)
	if err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	defer f.Close()
	if info.Size() > maxEdited {
		return domarkx.Result{}, toolError(domarkx.CodeRefused, "%q has %d bytes, expected at most %d", filepath.ToSlash(path), info.Size(), maxEdited)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	if err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	if n := occurrences(data, old); n != 1 {
		return domarkx.Result{}, toolError(domarkx.CodeInvalid, "old_text stands in %q %d times, expected exactly once", filepath.ToSlash(path), n)
	}
	data = bytes.Replace(data, old, new, 1)
	if err := replace(root, path, data); err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	return value("bytes", len(data)), nil
}

// occurrences counts the positions of s in data, including overlapping ones.
func occurrences(data, s []byte) int {
	if len(s) == 0 {
		return 0
	}
	n := 0
	for {
		i := bytes.Index(data, s)
		if i < 0 {
			return n
		}
		n++
		data = data[i+1:]
	}
}

// replace replaces the content of a file atomically. Behind a symbolic link, or for a file with
// several hard links, it writes in place, since a rename would separate them.
func replace(root *Files, path string, content []byte) error {
	info, err := root.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return write(root, path, content, os.O_EXCL, 0)
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		if info, err := root.Stat(path); err == nil && !info.Mode().IsRegular() {
			return toolError(domarkx.CodeInvalid, "%q leads to a %s, expected a file", filepath.ToSlash(path), kind(info.Mode()))
		}
		return write(root, path, content, os.O_TRUNC, 0)
	}
	if !info.Mode().IsRegular() {
		return toolError(domarkx.CodeInvalid, "%q is a %s, expected a file", filepath.ToSlash(path), kind(info.Mode()))
	}
	if keepsInode(info) {
		return write(root, path, content, os.O_TRUNC, 0)
	}
	return root.writeAside(path, content, info.Mode())
}

func write(root *Files, path string, content []byte, flag int, mode fs.FileMode) error {
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|nonblock|flag, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	return errors.Join(err, f.Close())
}

func move(_ context.Context, root *Files, arguments jsonvalue.Value) (domarkx.Result, error) {
	from, err := pathOf(arguments, "from")
	if err != nil {
		return domarkx.Result{}, err
	}
	to, err := pathOf(arguments, "to")
	if err != nil {
		return domarkx.Result{}, err
	}
	if from == "." || to == "." {
		return domarkx.Result{}, toolError(domarkx.CodeRefused, "the directory itself cannot be moved")
	}
	if err := errors.Join(root.take(from), root.reach(to, false)); err != nil {
		return domarkx.Result{}, err
	}
	if _, err := root.Lstat(from); err != nil {
		return domarkx.Result{}, explain(from, err)
	}
	if strings.HasPrefix(to, from+string(filepath.Separator)) {
		return domarkx.Result{}, toolError(domarkx.CodeInvalid, "%q is in %q", filepath.ToSlash(to), filepath.ToSlash(from))
	}
	if _, err := root.Lstat(to); err == nil {
		return domarkx.Result{}, explain(to, fs.ErrExist)
	}
	if err := makeParents(root, to); err != nil {
		return domarkx.Result{}, err
	}
	if err := root.Rename(from, to); err != nil {
		return domarkx.Result{}, explain(to, err)
	}
	return value(), nil
}

func remove(_ context.Context, root *Files, arguments jsonvalue.Value) (domarkx.Result, error) {
	path, err := pathOf(arguments, "path")
	if err != nil {
		return domarkx.Result{}, err
	}
	if path == "." {
		return domarkx.Result{}, toolError(domarkx.CodeRefused, "the directory itself cannot be deleted")
	}
	if err := root.take(path); err != nil {
		return domarkx.Result{}, err
	}
	if _, err := root.Lstat(path); err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	if err := root.RemoveAll(path); err != nil {
		return domarkx.Result{}, explain(path, err)
	}
	return value(), nil
}
