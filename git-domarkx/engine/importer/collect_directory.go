package importer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// directory finds the documents in a directory and its subdirectories. It skips hidden files, files that Git ignores
// and files of other formats, and does not follow symbolic links.
func (c *collector) directory(ctx context.Context, root string, bad func(error)) ([]found, error) {
	if c.as != "" {
		return nil, fmt.Errorf("importing directory %s: %w: --as names one document", root, domarkx.ErrInvalid)
	}
	files, all, err := c.walk(ctx, root, bad)
	if err != nil {
		return nil, err
	}
	ignored, err := c.manager.ignored(ctx, files)
	if err != nil {
		return nil, err
	}
	relative := make([]string, 0, len(files))
	for i, path := range files {
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		if !ignored[i] {
			relative = append(relative, filepath.ToSlash(name))
		}
	}
	var homes []Home
	if keeper := c.manager.homes; keeper != nil {
		homes = keeper.Find(c.manager.codecs, c.format, root, relative, readHead)
		c.homes = append(c.homes, homes...)
	}
	for _, name := range relative {
		var home Home
		if i := slices.IndexFunc(homes, func(h Home) bool { return h.Contains(name) }); i >= 0 {
			home = homes[i]
		}
		inside, err := c.inDirectory(ctx, root, name, home)
		if err != nil {
			bad(err)
		}
		all = append(all, inside...)
	}
	return all, nil
}

// walk returns the paths of the files in a directory, and the sessions in the directories in which OpenCode stores them.
func (c *collector) walk(ctx context.Context, root string, bad func(error)) (files []string, stored []found, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			bad(fmt.Errorf("%s: %w", path, local.PathError(err)))
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() && c.manager.databases.isStorage(path): // before a database, which has newer sessions
			inside, err := c.database(ctx, path, "")
			if err != nil {
				bad(err)
			}
			stored = append(stored, inside...)
			return fs.SkipDir
		case d.Type().IsRegular():
			files = append(files, path)
		}
		return ctx.Err()
	})
	return files, stored, err
}

// inDirectory returns the document, or the documents of a database, in a file below a directory. home is the agent home
// that contains the file, or nil.
func (c *collector) inDirectory(ctx context.Context, root, name string, home Home) ([]found, error) {
	path := filepath.Join(root, filepath.FromSlash(name))
	if f, ok := c.sinceStamp(path); ok && home == nil {
		f.name = c.nameOf(filepath.FromSlash(name))
		return []found{f}, nil
	}
	head, err := readHead(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, local.PathError(err))
	}
	if sqlite3.IsDatabase(head) {
		inside, err := c.database(ctx, path, "")
		if errors.Is(err, domarkx.ErrUnsupported) {
			c.others++
			err = nil
		}
		return inside, err
	}
	codec, ok := format.Detect(c.manager.codecs, head, path)
	if home != nil && !home.IsDocument(name, codec) {
		return nil, nil
	}
	if !ok {
		c.others++
		return nil, nil
	}
	f := found{path: path, name: c.nameOf(filepath.FromSlash(name)), home: home}
	c.note(&f, head)
	return []found{f}, nil
}
