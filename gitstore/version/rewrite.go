package version

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Objects are those of a repository and of a running update.
type Objects interface {
	Tree(id odb.ID) ([]odb.TreeEntry, error)
	Write(kind odb.Type, data []byte) (odb.ID, error)
	WriteTree(entries []odb.TreeEntry) (odb.ID, error)
}

// Empty stores a version of a resource that has no files, and returns its id.
func Empty(objects Objects) (string, error) {
	id, err := objects.Write(odb.Blob, []byte(sidecarMagic+"\n"))
	if err != nil {
		return "", err
	}
	tree, err := objects.WriteTree([]odb.TreeEntry{{Mode: odb.ModeFile, Name: sidecarName, ID: id}})
	return tree.String(), err
}

// A FileEdit returns the new content of a regular file, or of the target of a symbolic link, or nil to keep it. path is that
// in the version's tree, where some names are escaped. Content in chunks is always kept.
type FileEdit func(path string, content domarkx.Blob) ([]byte, error)

// Rewrite stores a version of a resource in which edit has replaced contents of files. done contains the directories that
// were rewritten, with their new trees: several versions can share it, so that each directory is read once.
func Rewrite(ctx context.Context, objects Objects, version string, done map[string]string, edit FileEdit) (string, error) {
	id, err := odb.ParseID(version)
	if err != nil {
		return "", err
	}
	now, err := rewriteDirectory(ctx, objects, id, "", done, edit)
	return now.String(), err
}

func rewriteDirectory(ctx context.Context, objects Objects, id odb.ID, path string, done map[string]string, edit FileEdit) (odb.ID, error) {
	if now, ok := done[id.String()]; ok {
		return odb.ParseID(now)
	}
	if err := ctx.Err(); err != nil {
		return id, err
	}
	entries, err := objects.Tree(id)
	if err != nil {
		return id, err
	}
	next, changed := make([]odb.TreeEntry, 0, len(entries)), false
	for _, e := range entries {
		was := e.ID
		switch {
		case isNoFile(e):
		case e.IsTree():
			if e.ID, err = rewriteDirectory(ctx, objects, e.ID, path+e.Name+"/", done, edit); err != nil {
				return id, err
			}
		default:
			blob := domarkx.Blob{ID: e.ID.String()}
			if chunks := odb.FindEntry(entries, chunksPrefix+e.Name); chunks.Name != "" {
				blob.Chunks = chunks.ID.String()
			}
			data, err := edit(path+e.Name, blob)
			if err != nil {
				return id, fmt.Errorf("file %q: %w", path+e.Name, err)
			}
			if data != nil && blob.Chunks == "" {
				if e.ID, err = objects.Write(odb.Blob, data); err != nil {
					return id, err
				}
			}
		}
		changed = changed || e.ID != was
		next = append(next, e)
	}
	now := id
	if changed {
		if now, err = objects.WriteTree(next); err != nil {
			return id, err
		}
	}
	done[id.String()] = now.String()
	return now, nil
}

// isNoFile reports whether a tree entry is a sidecar or a chunk tree.
func isNoFile(e odb.TreeEntry) bool {
	return e.Name == sidecarName || e.IsTree() && len(e.Name) > len(chunksPrefix) && strings.HasPrefix(e.Name, chunksPrefix)
}

// EntryNames calls a function with the names of the files and directories in a version of a resource, not escaped. It
// reads each directory once; several versions can share seen, which contains the directories that were read.
func (s Reader) EntryNames(ctx context.Context, tree string, seen map[string]bool, visit func(name string)) error {
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
	entries, err := s.db.Tree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if isNoFile(e) {
			continue
		}
		visit(FileName(e.Name))
		if e.IsTree() {
			if err := s.EntryNames(ctx, e.ID.String(), seen, visit); err != nil {
				return err
			}
		}
	}
	return nil
}
