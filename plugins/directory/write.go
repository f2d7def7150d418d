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

func writeFile(_ context.Context, root *Files, path string, arguments jsonvalue.Value) (domarkx.Result, error) {
	content := []byte(text(arguments, "content"))
	if path == "." {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "\".\" is the directory itself, expected the path of a file")
	}
	if err := makeParents(root, path); err != nil {
		return domarkx.Result{}, err
	}
	return result("bytes", len(content)), replace(root, path, content)
}

// makeParents creates the parent directories of a path.
func makeParents(root *Files, path string) error {
	err := root.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		return nil
	}
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if info, serr := root.Stat(dir); serr == nil && !info.IsDir() {
			return domarkx.NewToolError(domarkx.CodeInvalid, "%q is no directory", filepath.ToSlash(dir))
		}
	}
	return err
}

func editFile(_ context.Context, root *Files, path string, arguments jsonvalue.Value) (domarkx.Result, error) {
	old, new := []byte(text(arguments, "old_text")), []byte(text(arguments, "new_text"))
	f, info, err := open(root, path)
	if err != nil {
		return domarkx.Result{}, err
	}
	defer f.Close()
	if err := mustFit(path, info, maxEdited); err != nil {
		return domarkx.Result{}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdited+1))
	if err != nil {
		return domarkx.Result{}, err
	}
	if n := occurrences(data, old); n != 1 {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "old_text stands in %q %d times, expected exactly once", filepath.ToSlash(path), n)
	}
	data = bytes.Replace(data, old, new, 1)
	return result("bytes", len(data)), replace(root, path, data)
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
			return domarkx.NewToolError(domarkx.CodeInvalid, "%q leads to a %s, expected a file", filepath.ToSlash(path), kind(info.Mode()))
		}
		return write(root, path, content, os.O_TRUNC, 0)
	}
	if err := mustBe(path, info, "file"); err != nil {
		return err
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

func move(_ context.Context, root *Files, from string, arguments jsonvalue.Value) (domarkx.Result, error) {
	to, err := pathOf(arguments, "to")
	if err != nil {
		return domarkx.Result{}, err
	}
	if from == "." || to == "." {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeRefused, "the directory itself cannot be moved")
	}
	if err := root.Reach(to, false); err != nil {
		return domarkx.Result{}, err
	}
	if _, err := root.Lstat(from); err != nil {
		return domarkx.Result{}, err
	}
	if strings.HasPrefix(to, from+string(filepath.Separator)) {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeInvalid, "%q is in %q", filepath.ToSlash(to), filepath.ToSlash(from))
	}
	if _, err = root.Lstat(to); err == nil {
		err = fs.ErrExist
	} else if err = makeParents(root, to); err == nil {
		err = root.Rename(from, to)
	}
	return result(), explain(to, err)
}

func remove(_ context.Context, root *Files, path string, _ jsonvalue.Value) (domarkx.Result, error) {
	if path == "." {
		return domarkx.Result{}, domarkx.NewToolError(domarkx.CodeRefused, "the directory itself cannot be deleted")
	}
	if _, err := root.Lstat(path); err != nil {
		return domarkx.Result{}, err
	}
	return result(), root.RemoveAll(path)
}
