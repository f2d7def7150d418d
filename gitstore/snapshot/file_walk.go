package snapshot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A StoredCommit is a snapshot or a workspace version, with the files that it introduces.
type StoredCommit struct {
	ID        string
	Workspace bool   // it is a workspace version
	Message   []byte // of the commit: subject and trailers
	People    string // the names of author and committer
	Files     []StoredFile
}

// A StoredFile is a file of a commit.
type StoredFile struct {
	Path string // in the tree of the commit, see SPEC.md
	Blob domarkx.Blob
	Link bool // a symbolic link: the content is its target
}

// HasFile reports whether a snapshot or version has a blob at a path.
func (r Reader) HasFile(_ context.Context, commit, path, blob string) (bool, error) {
	id, err := odb.ParseID(commit)
	if err != nil {
		return false, err
	}
	c, err := r.objects.Commit(id)
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

// A FileWalk finds the files of commits, each once.
type FileWalk struct {
	r            Reader
	trees, blobs map[odb.ID]bool
	workspace    bool
	files        []StoredFile
}

// NewFileWalk returns a walk that has returned nothing yet.
func NewFileWalk(r Reader) *FileWalk {
	return &FileWalk{r: r, trees: map[odb.ID]bool{}, blobs: map[odb.ID]bool{}}
}

// Commit returns a snapshot or version with the files that its first parent does not have at the same path
// and that this walk has not returned before.
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
		} else if !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone lacks some
			return StoredCommit{}, err
		}
	}
	w.files, w.workspace = nil, w.r.IsVersion(id)
	if err := w.walk("", c.Tree, base, 0); err != nil {
		return StoredCommit{}, fmt.Errorf("commit %s: %w", id, err)
	}
	return StoredCommit{ID: id.String(), Workspace: w.workspace, Message: c.Message, Files: w.files,
		People: c.Author.Name + "\n" + c.Author.Email + "\n" + c.Committer.Name + "\n" + c.Committer.Email}, nil
}

// maxTreeDepth is how deep directories of a version, and those above them, are nested at most.
const maxTreeDepth = 1100

// walk adds the files below a tree that a base, which may be zero, does not have at the same path.
func (w *FileWalk) walk(path string, tree, base odb.ID, depth int) error {
	if tree == base || w.trees[tree] {
		return nil
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%s: %w: directories nested too deep", path[:min(len(path), 100)], domarkx.ErrCorrupt)
	}
	w.trees[tree] = true
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
	directories := map[string]odb.ID{}
	for _, e := range entries {
		if e.IsTree() {
			directories[e.Name] = e.ID
		}
	}
	chunks := map[string]bool{} // the directories that are chunk trees
	for _, e := range entries {
		if !e.IsTree() {
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
		case e.Mode != odb.ModeSubmodule && !w.blobs[e.ID]:
			w.blobs[e.ID] = true
			f := StoredFile{Path: at, Blob: domarkx.Blob{ID: e.ID.String()}, Link: e.Mode == odb.ModeSymlink}
			if id, ok := directories[w.chunksOf(e.Name)]; ok {
				f.Blob.Chunks = id.String()
			}
			w.files = append(w.files, f)
		}
	}
	return nil
}

// chunksOf returns the name of the chunk tree of a file, if it has one.
func (w *FileWalk) chunksOf(entry string) string {
	if w.workspace {
		return version.ChunksEntry(version.FileName(entry))
	}
	return entry + codec.ChunksSuffix
}
