// Package purge removes the objects of replaced commits from a repository at once, where `git gc` would do so only
// after weeks. It removes loose and packed objects, and keeps every object that something else in the repository uses,
// even if Git would collect it.
package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	if err := p.contents(ctx, p.stored(r.Commits), func(id odb.ID) { p.remove[id] = true }); err != nil {
		return Result{}, err
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

// stored returns a line for each of the ids whose object exists.
func (p *purger) stored(ids []string) string {
	var lines strings.Builder
	for _, text := range ids {
		if id, err := odb.ParseID(text); err == nil && p.Objects.Has(id) {
			fmt.Fprintln(&lines, id)
		}
	}
	return lines.String()
}

// contents calls visit with the commits in lines, and with the trees and files in them. It skips missing ones: an interrupted Run
// has removed them.
func (p *purger) contents(ctx context.Context, lines string, visit func(odb.ID)) error {
	if lines == "" {
		return nil
	}
	return p.list(ctx, lines, visit, "--objects", "--no-object-names", "--no-walk=unsorted", "--missing=allow-any", "--ignore-missing")
}

// list calls visit with each id that git rev-list prints with these options for the lines on its stdin.
func (p *purger) list(ctx context.Context, lines string, visit func(odb.ID), options ...string) error {
	command := gitcmd.Command{Args: append(append([]string{"rev-list"}, options...), "--stdin"), Stdin: strings.NewReader(lines)}
	return p.Git.Lines(ctx, command, func(line []byte) error {
		id, err := odb.ParseID(string(line))
		if err != nil {
			return fmt.Errorf("git rev-list: %w", err)
		}
		visit(id)
		return nil
	})
}

// protect deletes the objects in use from p.remove.
func (p *purger) protect(ctx context.Context) error {
	roots, err := p.pseudoRefs()
	if err != nil {
		return err
	}
	lines := p.stored(append(roots, p.Keep...))
	use := func(id odb.ID) { delete(p.remove, id) }
	if err := p.list(ctx, lines, use, "--objects", "--no-object-names", "--all", "--reflog", "--indexed-objects"); err != nil {
		return err
	}
	known := map[odb.ID]bool{} // reachable commits
	if err := p.list(ctx, lines, func(id odb.ID) { known[id] = true }, "--all", "--reflog"); err != nil {
		return err
	}
	var others strings.Builder // commits of the user's
	all := gitcmd.Command{Args: []string{"cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype)"}}
	err = p.Git.Lines(ctx, all, func(line []byte) error {
		text, kind, _ := bytes.Cut(line, []byte(" "))
		if string(kind) != "commit" {
			return nil
		}
		id, err := odb.ParseID(string(text))
		if err != nil || known[id] || p.remove[id] {
			return err
		}
		data, err := p.Objects.Commit(id)
		if err == nil && !p.Ours(data) {
			fmt.Fprintln(&others, id)
		}
		return err
	})
	if err != nil {
		return err
	}
	return p.contents(ctx, others.String(), use)
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
