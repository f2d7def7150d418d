// Package purge removes the objects of replaced commits from a repository at once, where `git gc` would do so only
// after weeks. It removes loose and packed objects, and keeps every object that something else in the repository uses,
// even if Git would collect it.
package purge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Request lists the objects to remove and to keep, by their hexadecimal ids. Ids of objects that do not exist are
// ignored.
type Request struct {
	Git     *gitcmd.Git   // the repository
	Objects *odb.Database // its objects
	Commits []string      // to remove, with their trees and files but without their parents
	Keep    []string      // to keep with all that they reach, although no ref, reflog or index reaches them

	// Ours reports whether this program wrote a commit. It is called for each unreachable commit. Run keeps the objects
	// of those that this program did not write, because they are the user's.
	Ours func(commit []byte) bool
}

// A Result counts the objects that were to be removed.
type Result struct {
	Removed int      // objects that are gone
	Left    []string // paths of the packs that contain some of the objects and must not be changed
	Missed  int      // objects that still exist: in those packs, in an alternate, or because they were written again
}

// Run removes the requested objects, except those that are in use: reachable from a ref, reflog, index, work tree or
// operation in progress, or contained in an unreachable commit of the user's. If Run cannot determine the objects in
// use, it removes nothing and returns an error. It can be repeated after an interruption. The caller holds the lock
// that keeps other processes of this program from writing.
func Run(ctx context.Context, r Request) (Result, error) {
	began := time.Now()
	p := &purger{Request: r, remove: map[odb.ID]bool{}}
	seen := map[odb.ID]bool{} // directories, which most versions share
	for _, text := range r.Commits {
		if id, err := odb.ParseID(text); err == nil && r.Objects.Has(id) {
			if err := p.walk(id, seen, func(id odb.ID) { p.remove[id] = true }); err != nil {
				return Result{}, err
			}
		}
	}
	if len(p.remove) == 0 {
		return Result{}, nil
	}
	if err := p.protect(ctx); err != nil {
		return Result{}, fmt.Errorf("finding the objects in use: %w; nothing was removed", err)
	}
	if len(p.remove) == 0 {
		return Result{}, nil
	}
	var result Result
	var err error
	if err = p.loose(began); err == nil { // first: it needs no space
		result.Left, err = p.packs(ctx)
	}
	err = errors.Join(err, p.graph(ctx), r.Objects.Refresh())
	for id := range p.remove {
		if r.Objects.Has(id) {
			result.Missed++
		} else {
			result.Removed++
		}
	}
	return result, err
}

type purger struct {
	Request
	remove map[odb.ID]bool
}

// walk calls visit for an object, and for a commit or tree also for the trees and files in it. It skips missing
// objects: an interrupted Run has removed them. It also skips the trees in seen, and adds those that it visits.
func (p *purger) walk(id odb.ID, seen map[odb.ID]bool, visit func(odb.ID)) error {
	kind, data, err := p.Objects.Read(id)
	switch {
	case errors.Is(err, domarkx.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	visit(id)
	switch kind {
	case odb.Commit:
		c, err := codec.DecodeCommit(p.Objects.Hash(), data)
		if err != nil { // not skipped: it may be a commit whose objects are in use
			return err
		}
		return p.trees(c.Tree, seen, visit)
	case odb.Tree:
		return p.trees(id, seen, visit)
	}
	return nil
}

func (p *purger) trees(top odb.ID, seen map[odb.ID]bool, visit func(odb.ID)) error {
	queue := []odb.ID{top}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		entries, err := p.Objects.Tree(id)
		if errors.Is(err, domarkx.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		visit(id)
		for _, e := range entries {
			switch {
			case e.IsTree():
				queue = append(queue, e.ID)
			case e.Mode != odb.ModeSubmodule:
				visit(e.ID)
			}
		}
	}
	return nil
}

// protect deletes the objects in use from p.remove.
func (p *purger) protect(ctx context.Context) error {
	roots, err := p.pseudoRefs()
	if err != nil {
		return err
	}
	var input strings.Builder
	for _, text := range append(roots, p.Keep...) {
		if id, err := odb.ParseID(text); err == nil && p.Objects.Has(id) {
			fmt.Fprintln(&input, id)
		}
	}
	known := map[odb.ID]bool{} // reachable commits
	use := func(line []byte) error {
		id, err := odb.ParseID(string(line))
		if err != nil {
			return fmt.Errorf("git rev-list: %w", err)
		}
		delete(p.remove, id)
		return nil
	}
	err = p.lines(ctx, input.String(), use, "rev-list", "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects", "--stdin")
	if err != nil {
		return err
	}
	err = p.lines(ctx, input.String(), func(line []byte) error {
		id, err := odb.ParseID(string(line))
		known[id] = true
		return err
	}, "rev-list", "--all", "--reflog", "--stdin")
	if err != nil {
		return err
	}
	return p.lines(ctx, "", func(line []byte) error {
		text, kind, _ := bytes.Cut(line, []byte(" "))
		if string(kind) != "commit" {
			return nil
		}
		id, err := odb.ParseID(string(text))
		if err != nil || known[id] || p.remove[id] {
			return err
		}
		data, err := p.Objects.Commit(id)
		if err != nil || p.Ours(data) {
			return err
		}
		return p.walk(id, map[odb.ID]bool{}, func(id odb.ID) { delete(p.remove, id) })
	}, "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)")
}

// lines runs git and calls line for each line of its output.
func (p *purger) lines(ctx context.Context, input string, line func([]byte) error, args ...string) error {
	list, err := p.Git.Start(ctx, args...)
	if err != nil {
		return err
	}
	_, err = io.WriteString(list.Stdin, input)
	err = errors.Join(err, list.Stdin.Close())
	for lines := bufio.NewScanner(list.Stdout); err == nil && lines.Scan(); {
		err = line(lines.Bytes())
	}
	_, unread := io.Copy(io.Discard, list.Stdout)
	return errors.Join(err, unread, list.Wait())
}

// maxPseudoRef is the size in bytes of the largest file in which pseudoRefs looks for ids.
const maxPseudoRef = 1 << 20

// pseudoRefs returns the ids of objects that files in the Git directory name, other than refs and reflogs. Such files
// are ORIG_HEAD and the state of a rebase, also of linked work trees.
func (p *purger) pseudoRefs() ([]string, error) {
	var found []string
	common := p.Git.CommonDir
	err := filepath.WalkDir(common, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch at, _ := filepath.Rel(common, path); at {
			case "objects", "domarkx", "logs", "hooks", "refs", "modules", "lfs", "info":
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() > maxPseudoRef || d.Name() == "index" || d.Name() == "packed-refs" || d.Name() == "FETCH_HEAD":
			return nil
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		found = append(found, oid.FindHex(string(data))...)
		return err
	})
	return found, err
}

// loose removes the loose objects. It keeps those that were modified after began: Git or another program may have
// written them again and use them now.
func (p *purger) loose(began time.Time) error {
	dir := filepath.Join(p.Git.CommonDir, "objects")
	for id := range p.remove {
		text := id.String()
		path := filepath.Join(dir, text[:2], text[2:])
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.ModTime().After(began) {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// graph rewrites the repository's commit-graph file, if it has one, so that it does not name removed commits.
func (p *purger) graph(ctx context.Context) error {
	dir := filepath.Join(p.Git.CommonDir, "objects", "info")
	args := []string{"commit-graph", "write", "--reachable", "--no-progress"}
	if _, err := os.Lstat(filepath.Join(dir, "commit-graphs")); err == nil {
		args = append(args, "--split=replace")
	} else if _, err := os.Lstat(filepath.Join(dir, "commit-graph")); err != nil {
		return nil
	}
	_, err := p.Git.Run(ctx, strings.NewReader(""), args...)
	return err
}
