// Package blame finds the messages that wrote the lines of a file in the work tree.
//
// It compares contents and ignores the history of commits, so a rebase, a squash or a cherry-pick
// changes nothing. Versions of workspaces record which call or turn left which content at a path.
// If a text equals the content in a version, it is followed back through the earlier versions. Any
// other text is compared with the most similar version; the lines that differ were written by a
// person. For lines that no version explains, git blame finds the commit that introduced them, and
// the content in that commit is followed in the same way.
package blame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// MaxSize is the maximum size in bytes of a file whose lines can be looked up.
const MaxSize = 16 << 20

// Manager looks up lines of the files in a work tree.
type Manager struct {
	store *gitstore.Store
	git   *gitcmd.Git
	state local.State
}

// New returns a manager for the work tree of a repository.
func New(store *gitstore.Store, git *gitcmd.Git, state local.State) *Manager {
	return &Manager{store: store, git: git, state: state}
}

// A Source is the kind of author of a line.
type Source int

// The kinds of authors of lines.
const (
	Person  Source = iota // written by no session
	Session               // a message of a session
	Unclear               // by one of several sessions whose turns overlapped, or by a person during these turns
	Expired               // in a version whose files expired, or by the message after it
)

// A Line is a line of a file with its origin.
type Line struct {
	Number int // line number, from 1
	Text   string
	Origin
}

// An Origin describes who wrote a line, and when.
type Origin struct {
	Source  Source
	Session string     // the name of the session
	Message int        // the number of the message, or -1 if the session no longer has it
	ID      domarkx.ID // id of the message; zero if unknown
	Model   string     // "" if it is not known
	Date    int64      // Unix seconds; 0 if unknown
	Version string     // the workspace version in which the line appeared
	Commit  string     // for a line without a session: the commit that git blame names, if any
	Author  string     // the author of Commit

	Expired *domarkx.ExpiredError // of the source [Expired]: the last version without files
}

// Path returns a file's path relative to the top of the work tree, with slashes. The error matches
// [domarkx.ErrInvalid] if the file is outside of the work tree.
func (m *Manager) Path(path string) (string, error) {
	if m.git.WorkTree == "" {
		return "", fmt.Errorf("blame %q: %w: the repository has no work tree", path, domarkx.ErrInvalid)
	}
	top, err := filepath.EvalSymlinks(m.git.WorkTree)
	if err != nil {
		return "", err
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		full = filepath.Join(dir, filepath.Base(full))
	}
	at, err := filepath.Rel(top, full)
	if err != nil || at == "." || !filepath.IsLocal(at) {
		return "", fmt.Errorf("blame %q: %w: it is not below the work tree %q", path, domarkx.ErrInvalid, m.git.WorkTree)
	}
	return filepath.ToSlash(at), nil
}

// File returns lines first to last of a file, counted from 1. path is relative to the work tree, as
// [Manager.Path] returns it. 0 for first stands for the first line, 0 for last for the last line.
// The error matches [domarkx.ErrNotFound] if the file does not exist, and [domarkx.ErrInvalid] if
// it is binary, larger than [MaxSize] or has fewer lines.
func (m *Manager) File(ctx context.Context, path string, first, last int) ([]Line, error) {
	data, err := m.Read(path)
	if err != nil {
		return nil, err
	}
	texts := slices.Collect(bytes.Lines(data))
	first = max(first, 1)
	if last == 0 {
		last = len(texts)
	}
	if first > 1 && first > len(texts) || last > len(texts) || last < first && len(texts) > 0 {
		return nil, fmt.Errorf("blame %q: lines %d to %d: %w: it has %d lines", path, first, last, domarkx.ErrInvalid, len(texts))
	}
	s, err := m.newSurvey(ctx, false)
	if err != nil {
		return nil, err
	}
	return s.lines(ctx, Text{Path: path, Data: data, Ranges: []Range{{first, last}}})
}

// Read reads a file of the work tree. The errors are those of [Manager.File].
func (m *Manager) Read(path string) ([]byte, error) {
	root, err := os.OpenRoot(m.git.WorkTree)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(filepath.FromSlash(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("blame %q: %w in the work tree", path, domarkx.ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("blame: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("blame %q: %w: it is not a regular file", path, domarkx.ErrInvalid)
	case info.Size() > MaxSize:
		return nil, fmt.Errorf("blame %q: %w: it has more than %d MiB", path, domarkx.ErrInvalid, MaxSize>>20)
	}
	data, err := root.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return nil, fmt.Errorf("blame: %w", err)
	}
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, fmt.Errorf("blame %q: %w: it is a binary file", path, domarkx.ErrInvalid)
	}
	return data, nil
}
