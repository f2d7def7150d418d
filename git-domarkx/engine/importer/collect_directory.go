package importer

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/homes"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
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
	var here []*homes.Home
	if c.manager.store != nil { // without a store, nothing can be kept, and each file is a document
		here = homes.Find(c.manager.codecs, c.Format, root, relative, document.HeadOf)
		c.homes = append(c.homes, here...)
	}
	for _, name := range relative {
		var home *homes.Home
		if i := slices.IndexFunc(here, func(h *homes.Home) bool { return h.Contains(name) }); i >= 0 {
			home = here[i]
		}
		inside, err := c.recognize(ctx, filepath.Join(root, filepath.FromSlash(name)), name, name, home)
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
		case d.IsDir() && opencodedb.IsStorage(path): // before a database, which has newer sessions
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
