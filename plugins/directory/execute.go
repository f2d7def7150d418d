package directory

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// A tool is how one of the [Tools] works.
type tool struct {
	path  string                            // the argument with the path that the other functions get
	allow func(f *Files, path string) error // refuses what is hidden
	run   func(ctx context.Context, f *Files, path string, arguments jsonvalue.Value) (domarkx.Result, error)
}

// Execute calls one of the [Tools] and reports whether the tool is one of them. Arguments that
// do not match the schema count as empty.
func (f *Files) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, bool, error) {
	leads := func(f *Files, path string) error { return f.Reach(path, true) }
	t, ok := map[string]tool{
		"read_file": {"path", leads, readFile}, "write_file": {"path", leads, writeFile}, "edit_file": {"path", leads, editFile},
		"list_dir": {"path", leads, listDir}, "search": {"path", leads, search},
		"move": {"from", (*Files).take, move}, "delete": {"path", (*Files).take, remove},
	}[call.Tool]
	if !ok {
		return domarkx.Result{}, false, nil
	}
	arguments := call.Arguments
	if _, given := arguments.Get("path"); call.Tool == "search" && !given {
		arguments = arguments.With("path", jsonvalue.StringValue("."))
	}
	path, err := pathOf(arguments, t.path)
	if err == nil {
		err = t.allow(f, path)
	}
	var r domarkx.Result
	if err == nil {
		r, err = t.run(ctx, f, path, arguments)
	}
	if err != nil {
		return domarkx.Result{}, true, explain(path, err)
	}
	return r, true, nil
}

func text(v jsonvalue.Value, name string) string {
	member, _ := v.Get(name)
	return member.Text()
}

func pathOf(arguments jsonvalue.Value, name string) (string, error) {
	path := text(arguments, name)
	clean := filepath.Clean(filepath.FromSlash(path))
	switch {
	case strings.ContainsRune(path, 0):
		return "", domarkx.NewToolError(domarkx.CodeInvalid, "path %q has a NUL", path)
	case path == "":
		return "", domarkx.NewToolError(domarkx.CodeInvalid, "path is empty, expected one below the directory, or \".\"")
	case !filepath.IsLocal(clean):
		return "", domarkx.NewToolError(domarkx.CodeRefused, "path %q is outside of the resource, expected one from its top", path)
	}
	return clean, nil
}

// explain converts an error of the file system to a ToolError.
func explain(path string, err error) error {
	var tool *domarkx.ToolError
	if err == nil || errors.As(err, &tool) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	path = filepath.ToSlash(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return domarkx.NewToolError(domarkx.CodeNotFound, "%q: no such file or directory", path)
	case errors.Is(err, fs.ErrExist):
		return domarkx.NewToolError(domarkx.CodeInvalid, "%q is there already", path)
	case strings.Contains(err.Error(), "escapes from parent"): // the os package has no error to compare with
		return domarkx.NewToolError(domarkx.CodeRefused, "%q leads out of the resource", path)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return domarkx.NewToolError(domarkx.CodeInvalid, "%q: %v", path, beneath.Bare(err))
	}
	return domarkx.NewToolError(domarkx.CodeFailed, "%q: %v", path, beneath.Bare(err))
}

// result returns a result with an object; see [jsonvalue.ObjectOf].
func result(pairs ...any) domarkx.Result { return domarkx.Result{Value: jsonvalue.ObjectOf(pairs...)} }
