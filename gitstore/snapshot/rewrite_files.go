package snapshot

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// EmptyVersion stores a version of a resource that has no files, and returns its id.
func (b *Builder) EmptyVersion(context.Context) (string, error) {
	id, err := b.out.Write(odb.Blob, []byte("domarkx-folder 1\n"))
	if err != nil {
		return "", err
	}
	tree, err := b.out.WriteTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: ".domarkx", ID: id}})
	return tree.String(), err
}

// A VersionFile is a file in the version of a resource: a regular file, or the target of a symbolic link.
type VersionFile struct {
	Path  string // path in the version's tree, where some names are escaped
	Blob  domarkx.Blob
	Large bool // whether the content is stored in chunks
}

// RewriteFiles stores a version of a resource in which edit has replaced contents of files. edit returns the new
// content of a file, or nil to keep the file. done contains the directories that were rewritten, with their new trees:
// several versions can share it, so that each directory is read once.
func (b *Builder) RewriteFiles(ctx context.Context, version string, done map[string]string, edit func(f VersionFile) ([]byte, error)) (string, error) {
	id, err := odb.ParseID(version)
	if err != nil {
		return "", err
	}
	now, err := b.rewriteDirectory(ctx, id, "", done, edit)
	return now.String(), err
}

func (b *Builder) rewriteDirectory(ctx context.Context, id odb.ID, path string, done map[string]string, edit func(f VersionFile) ([]byte, error)) (odb.ID, error) {
	if now, ok := done[id.String()]; ok {
		return odb.ParseID(now)
	}
	if err := ctx.Err(); err != nil {
		return id, err
	}
	entries, err := b.objects.Tree(id)
	if err != nil {
		return id, err
	}
	next, changed := make([]odb.TreeEntry, 0, len(entries)), false
	for _, e := range entries {
		was := e.ID
		switch {
		case e.Name == ".domarkx" || isChunks(e):
		case e.IsTree():
			if e.ID, err = b.rewriteDirectory(ctx, e.ID, path+e.Name+"/", done, edit); err != nil {
				return id, err
			}
		default:
			f := VersionFile{Path: path + e.Name, Blob: domarkx.Blob{ID: e.ID.String()}}
			if chunks := odb.FindEntry(entries, chunksPrefix+e.Name); chunks.Name != "" {
				f.Blob.Chunks, f.Large = chunks.ID.String(), true
			}
			data, err := edit(f)
			if err != nil {
				return id, fmt.Errorf("file %q: %w", f.Path, err)
			}
			if data != nil && !f.Large {
				if e.ID, err = b.out.Write(odb.Blob, data); err != nil {
					return id, err
				}
			}
		}
		changed = changed || e.ID != was
		next = append(next, e)
	}
	now := id
	if changed {
		if now, err = b.out.WriteTree(next); err != nil {
			return id, err
		}
	}
	done[id.String()] = now.String()
	return now, nil
}

// chunksPrefix is the beginning of the name of a chunk tree. The escaped name of its file follows.
const chunksPrefix = ".domarkx+"

func isChunks(e odb.TreeEntry) bool {
	return e.IsTree() && len(e.Name) > len(chunksPrefix) && e.Name[:len(chunksPrefix)] == chunksPrefix
}

// EntryNames calls a function with the names of the files and directories in a version of a resource, not escaped. It
// reads each directory once; several versions can share seen, which contains the directories that were read.
func (r Reader) EntryNames(ctx context.Context, tree string, seen map[string]bool, visit func(name string)) error {
	if seen[tree] {
		return nil
	}
	seen[tree] = true
	if err := ctx.Err(); err != nil {
		return err
	}
	id, err := odb.ParseID(tree)
	if err != nil {
		return err
	}
	entries, err := r.objects.Tree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name == ".domarkx" || isChunks(e) {
			continue
		}
		visit(version.FileName(e.Name))
		if e.IsTree() {
			if err := r.EntryNames(ctx, e.ID.String(), seen, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
