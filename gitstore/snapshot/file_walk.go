package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A StoredCommit is a snapshot or a workspace version, with the files that it adds.
type StoredCommit struct {
	ID        string
	Workspace bool   // whether it is a workspace version
	Message   []byte // commit message: subject and trailers
	Headers   []byte // the headers before the message
	Files     []StoredFile
	Trees     []string // paths of the directories and submodules
}

// A StoredFile is a file of a commit.
type StoredFile struct {
	Path string // path in the commit's tree (see SPEC.md)
	Blob domarkx.Blob
	Link bool // whether it is a symbolic link, whose content is its target
}

// HasFile reports whether the tree of a snapshot or workspace version has a blob at a path.
func (r Reader) HasFile(_ context.Context, commit, path, blob string) (bool, error) {
	c, err := r.objects.CommitOf(commit)
	if err != nil {
		return false, err
	}
	tree := c.Tree
	for {
		name, rest, more := strings.Cut(path, "/")
		entries, err := r.objects.Tree(tree)
		if err != nil {
			return false, err
		}
		e := odb.FindEntry(entries, name)
		if !more || e.Name == "" || !e.IsTree() {
			return !more && e.Name != "" && e.ID.String() == blob, nil
		}
		tree, path = e.ID, rest
	}
}

// A FileWalk finds what commits add to their first parents. Of commits and all their ancestors, or of those that another
// repository lacks, that is each name and each blob. A blob is found under each name that it has.
type FileWalk struct {
	r      Reader
	trees  map[[2]odb.ID]bool // a tree and its base: after a comparison with another base, files of the tree may still be missing
	commit StoredCommit
}

// NewFileWalk returns a walk that has not visited any commit.
func NewFileWalk(r Reader) *FileWalk {
	return &FileWalk{r: r, trees: map[[2]odb.ID]bool{}}
}

// Commit returns a snapshot or workspace version with its files, except those that its first parent has at the same
// path. It also leaves out the files of directories that this walk has compared before.
func (w *FileWalk) Commit(id odb.ID) (StoredCommit, error) {
	c, err := w.r.objects.Commit(id)
	if err != nil {
		return StoredCommit{}, err
	}
	base := odb.ID{}
	if len(c.Parents) > 0 {
		parent, err := w.r.objects.Commit(c.Parents[0])
		if err == nil {
			base = parent.Tree
		} else if !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone may not have the parent
			return StoredCommit{}, err
		}
	}
	raw, err := w.r.objects.Read(id, odb.Commit)
	if err != nil {
		return StoredCommit{}, err
	}
	headers, _, _ := bytes.Cut(raw, []byte("\n\n"))
	w.commit = StoredCommit{ID: id.String(), Workspace: w.r.IsVersion(id.String()), Message: c.Message, Headers: headers}
	if err := w.walk("", c.Tree, base, 0); err != nil {
		return StoredCommit{}, fmt.Errorf("commit %s: %w", id, err)
	}
	return w.commit, nil
}

// maxTreeDepth is the maximum nesting of directories in a commit: those of a version, and those above them.
const maxTreeDepth = 1100

// walk adds the files below a tree that base does not have at the same path. base is another tree, or zero.
func (w *FileWalk) walk(path string, tree, base odb.ID, depth int) error {
	if path != "" {
		w.commit.Trees = append(w.commit.Trees, strings.TrimSuffix(path, "/"))
	}
	pair := [2]odb.ID{tree, base}
	if tree == base || w.trees[pair] {
		return nil
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%s: %w: directories nested too deep", path[:min(len(path), 100)], domarkx.ErrCorrupt)
	}
	w.trees[pair] = true
	entries, err := w.r.objects.Tree(tree)
	if err != nil {
		return err
	}
	before := map[string]odb.TreeEntry{}
	if !base.IsZero() {
		list, err := w.r.objects.Tree(base)
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			return err
		}
		for _, e := range list {
			before[e.Name] = e
		}
	}
	directories, chunks := map[string]odb.ID{}, map[string]bool{} // chunks are those that are chunk trees
	for _, e := range entries {
		if e.IsTree() {
			directories[e.Name] = e.ID
		} else {
			chunks[w.chunksOf(e.Name)] = true
		}
	}
	for _, e := range entries {
		old := before[e.Name]
		if old.Name != "" && old.ID == e.ID && old.Mode == e.Mode || e.IsTree() && chunks[e.Name] {
			continue
		}
		at := path + e.Name
		switch {
		case e.IsTree():
			if !old.IsTree() {
				old = odb.TreeEntry{}
			}
			if err := w.walk(at+"/", e.ID, old.ID, depth+1); err != nil {
				return err
			}
		case e.Mode != odb.ModeSubmodule:
			f := StoredFile{Path: at, Blob: domarkx.Blob{ID: e.ID.String()}, Link: e.Mode == odb.ModeSymlink}
			if id, ok := directories[w.chunksOf(e.Name)]; ok {
				f.Blob.Chunks = id.String()
			}
			w.commit.Files = append(w.commit.Files, f)
		default:
			w.commit.Trees = append(w.commit.Trees, at)
		}
	}
	return nil
}

// chunksOf returns the name of a file's chunk tree, or "" if it has none.
func (w *FileWalk) chunksOf(entry string) string {
	if w.commit.Workspace {
		return version.ChunksEntry(version.FileName(entry))
	}
	return entry + codec.ChunksSuffix
}
