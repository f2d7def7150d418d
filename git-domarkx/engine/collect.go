package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// An input is a document to import.
type input struct {
	path  string // as the user named it; "-" for standard input
	key   string // its absolute path, or "-:NAME"
	name  string // the session's name, not mapped yet
	codec format.Codec
	data  []byte
}

// collector finds the documents that the user named.
type collector struct {
	manager *SessionManager
	stdin   io.Reader
	as      string
	format  string
	input   []byte // of stdin, once it was read
	others  int    // files in folders that are no sessions
}

// collect calls fn for each document. A document that cannot be read is given to
// bad, and the others go on.
func (c *collector) collect(ctx context.Context, paths []string, fn func(input) error, bad func(error)) error {
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := c.one(ctx, path, fn, bad)
		var unreadable *unreadableError
		if errors.As(err, &unreadable) {
			bad(unreadable.error)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) one(ctx context.Context, path string, fn func(input) error, bad func(error)) error {
	if path == "-" {
		return c.standardInput(fn)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &unreadableError{fmt.Errorf("%s: %w", path, pathError(err))}
	case info.IsDir():
		return c.folder(ctx, path, fn, bad)
	}
	return c.file(path, filepath.Base(path), fn)
}

// unreadableError is an error about one input, after which others go on.
type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

// pathError strips the operation and path, which the caller names itself.
func pathError(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func (c *collector) standardInput(fn func(input) error) error {
	if c.as == "" {
		return fmt.Errorf("importing from standard input: %w: it has no name; give one with --as NAME", domarkx.ErrInvalid)
	}
	if c.input == nil {
		data, err := io.ReadAll(c.stdin)
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		c.input = notNil(data)
	}
	codec, err := c.codec("-", c.input)
	if err != nil {
		return &unreadableError{err}
	}
	return fn(input{path: "-", key: "-:" + c.as, name: c.as, codec: codec, data: c.input})
}

func (c *collector) file(path, name string, fn func(input) error) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return &unreadableError{fmt.Errorf("%s: %w", path, pathError(err))}
	}
	codec, err := c.codec(path, data)
	if err != nil {
		return &unreadableError{err}
	}
	key, err := canonicalPath(path)
	if err != nil {
		return &unreadableError{fmt.Errorf("%s: %w", path, pathError(err))}
	}
	return fn(input{path: path, key: key, name: c.nameOf(name), codec: codec, data: data})
}

// canonicalPath is the one path under which a file is remembered.
func canonicalPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (c *collector) nameOf(relative string) string {
	if c.as != "" {
		return c.as
	}
	return strings.TrimSuffix(filepath.ToSlash(relative), filepath.Ext(relative))
}

// codec returns the codec that the user chose or that suits the document; a file
// that was named is tried as Markdown when nothing else recognises it.
func (c *collector) codec(path string, data []byte) (format.Codec, error) {
	if c.format != "" {
		return c.manager.codec(c.format)
	}
	if codec, ok := format.Pick(c.manager.codecs, data[:min(len(data), format.HeadSize)], path); ok {
		return codec, nil
	}
	return c.manager.codec(string(Markdown))
}

// codec returns the codec of that name.
func (m *SessionManager) codec(name string) (format.Codec, error) {
	codec, ok := format.ByName(m.codecs, name)
	if ok {
		return codec, nil
	}
	var names []string
	for _, codec := range m.codecs {
		names = append(names, codec.Name)
	}
	return codec, fmt.Errorf("format %q: %w, expected one of %s", name, domarkx.ErrUnsupported, strings.Join(names, ", "))
}

// folder takes the sessions of a folder: hidden and ignored paths and files of
// other kinds are passed over, and symbolic links are not followed.
func (c *collector) folder(ctx context.Context, root string, fn func(input) error, bad func(error)) error {
	if c.as != "" && c.as != "-" {
		return fmt.Errorf("importing folder %s: %w: --as names one document", root, domarkx.ErrInvalid)
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			bad(fmt.Errorf("%s: %w", path, pathError(err)))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			files = append(files, path)
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	ignored, err := c.manager.around.Ignored(ctx, files)
	if err != nil {
		return err
	}
	for i, path := range files {
		if ignored[i] {
			continue
		}
		head, err := readHead(path)
		if err != nil {
			bad(fmt.Errorf("%s: %w", path, pathError(err)))
			continue
		}
		if _, ok := format.Detect(c.manager.codecs, head, path); !ok {
			c.others++
			continue
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		var unreadable *unreadableError
		if err := c.file(path, relative, fn); errors.As(err, &unreadable) {
			bad(unreadable.error)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, format.HeadSize))
}
