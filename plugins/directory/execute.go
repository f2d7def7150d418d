package directory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// Execute calls one of the [Tools] and reports whether the tool is one of them. Arguments that
// do not match the schema count as empty.
func (f *Files) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, bool, error) {
	run, ok := map[string]func(context.Context, *Files, jsonvalue.Value) (domarkx.Result, error){
		"read_file": readFile, "write_file": writeFile, "edit_file": editFile, "list_dir": listDir,
		"search": search, "move": move, "delete": remove,
	}[call.Tool]
	if !ok {
		return domarkx.Result{}, false, nil
	}
	r, err := run(ctx, f, call.Arguments)
	return r, true, err
}

func text(v jsonvalue.Value, name string) string {
	member, _ := v.Get(name)
	return member.Text()
}

// reachable returns the path in an argument, after checking that it does not lead to a hidden one.
func (f *Files) reachable(arguments jsonvalue.Value, name string) (string, error) {
	path, err := pathOf(arguments, name)
	if err == nil {
		err = f.reach(path, true)
	}
	return path, err
}

func pathOf(arguments jsonvalue.Value, name string) (string, error) {
	path := text(arguments, name)
	if strings.ContainsRune(path, 0) {
		return "", toolError(domarkx.CodeInvalid, "path %q has a NUL", path)
	}
	clean := filepath.Clean(filepath.FromSlash(path))
	if path == "" || !filepath.IsLocal(clean) {
		if path == "" {
			return "", toolError(domarkx.CodeInvalid, "path is empty, expected one below the directory, or \".\"")
		}
		return "", toolError(domarkx.CodeRefused, "path %q is outside of the resource, expected one from its top", path)
	}
	return clean, nil
}

func toolError(code, format string, args ...any) error {
	return &domarkx.ToolError{Code: code, Message: fmt.Sprintf(format, args...)}
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
		return toolError(domarkx.CodeNotFound, "%q: no such file or directory", path)
	case errors.Is(err, fs.ErrExist):
		return toolError(domarkx.CodeInvalid, "%q is there already", path)
	case strings.Contains(err.Error(), "escapes from parent"): // the os package has no error to compare with
		return toolError(domarkx.CodeRefused, "%q leads out of the resource", path)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return toolError(domarkx.CodeInvalid, "%q: %v", path, beneath.Bare(err))
	}
	return toolError(domarkx.CodeFailed, "%q: %v", path, beneath.Bare(err))
}

// value returns an object of the given names and values.
func value(members ...any) domarkx.Result {
	var o []jsonvalue.Member
	for i := 0; i < len(members); i += 2 {
		var v jsonvalue.Value
		switch m := members[i+1].(type) {
		case string:
			v = jsonvalue.StringValue(m)
		case bool:
			v = jsonvalue.BoolValue(m)
		case int:
			v = jsonvalue.NumberValue(fmt.Sprint(m))
		case int64:
			v = jsonvalue.NumberValue(fmt.Sprint(m))
		case jsonvalue.Value:
			v = m
		}
		o = append(o, jsonvalue.Member{Name: members[i].(string), Value: v})
	}
	return domarkx.Result{Value: jsonvalue.ObjectValue(o...)}
}
