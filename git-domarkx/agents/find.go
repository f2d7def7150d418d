package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
)

// Find returns the paths of the agent's transcripts in lexical order. Those of sessions in a database
// are made by [opencodedb.Path]. Symbolic links, and files that are empty or not regular, are left out.
// An agent without a directory has none. If a directory below it cannot be read, Find returns the
// transcripts elsewhere and the error.
func (a Agent) Find(ctx context.Context, e Environment) ([]string, error) {
	var found []string
	err := a.walk(ctx, a.Home(e), func(file, _ string, d fs.DirEntry) {
		if d.IsDir() {
			return
		}
		if info, err := d.Info(); err == nil && info.Size() > 0 {
			found = append(found, file)
		}
	})
	if a.Origin == nil {
		var stored, rows []string
		for _, database := range found {
			if row, ok := opencodedb.InStorage(database); ok {
				stored = append(stored, row)
				continue
			}
			sessions, unread := readDatabase(ctx, database, (*opencodedb.DB).Sessions)
			if unread != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", database, unread))
			}
			for _, s := range sessions {
				rows = append(rows, opencodedb.Path(database, s.ID))
			}
		}
		found = append(stored, rows...) // a database has newer sessions
	}
	return found, err
}

// match reports whether a slash-separated name matches a pattern. If prefix is true, it
// reports whether a name below it can match.
func match(pattern, name string, prefix bool) bool {
	head, rest, more := strings.Cut(pattern, "/")
	first, below, deeper := strings.Cut(name, "/")
	if head == "**" {
		if prefix {
			return true
		}
		return match(rest, name, false) || deeper && match(pattern, below, false)
	}
	if ok, err := path.Match(head, first); err != nil || !ok {
		return false
	}
	switch {
	case more && deeper:
		return match(rest, below, prefix)
	case more:
		return prefix
	}
	return !deeper && !prefix
}

// Here returns the transcripts of conversations that began in one of the work trees of a
// repository. A conversation belongs to the innermost repository around the directory in
// which it began. A transcript that does not say where it began belongs to none.
func (a Agent) Here(ctx context.Context, e Environment, files, trees []string) ([]string, error) {
	real := allResolved(trees)
	began := a.origin(ctx)
	var here []string
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if dir, ok := began(e, real, file); ok && slices.Contains(real, innermost(resolved(dir), real)) {
			here = append(here, file)
		}
	}
	return here, nil
}

// innermost returns the root of the innermost repository around a directory: one of the
// trees, or a directory with an entry .git. It returns "" if there is none.
func innermost(dir string, trees []string) string {
	for at := range Upward(dir) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || slices.Contains(trees, at) {
			return at
		}
	}
	return ""
}

// Upward yields a directory and those around it, the innermost first.
func Upward(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(dir) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
		}
	}
}

// origin returns the function for [Agent.Origin]. That for databases reads each of them once.
func (a Agent) origin(ctx context.Context) func(Environment, []string, string) (string, bool) {
	if a.Origin != nil {
		return a.Origin
	}
	known := map[string]map[string]string{} // directories by database and session
	return func(_ Environment, _ []string, file string) (dir string, ok bool) {
		database, session, ok := opencodedb.Split(file)
		if !ok {
			return "", false
		}
		if known[database] == nil {
			known[database] = map[string]string{}
			sessions, _ := readDatabase(ctx, database, (*opencodedb.DB).Sessions) // none if it cannot be read
			for _, s := range sessions {
				known[database][s.ID] = s.Directory
			}
		}
		dir, ok = known[database][session]
		return dir, ok
	}
}

func allResolved(dirs []string) []string {
	real := make([]string, len(dirs))
	for i, dir := range dirs {
		real[i] = resolved(dir)
	}
	return real
}

// resolved returns a path without symbolic links. The last elements of the path may not
// exist any more.
func resolved(dir string) string {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return dir
	}
	return filepath.Join(resolved(parent), filepath.Base(dir))
}

// Match reports whether a path is one of the agent's transcripts: its name fits, and it is a
// regular file that no symbolic link below the agent's own directory leads to.
func (a Agent) Match(e Environment, file string) bool {
	if database, _, ok := opencodedb.Split(file); ok {
		file = database
	}
	root := a.Home(e)
	rel, err := filepath.Rel(root, file)
	if err != nil || !filepath.IsLocal(rel) || !filepath.IsAbs(root) {
		return false
	}
	name := filepath.ToSlash(rel)
	if !slices.ContainsFunc(a.Files, func(pattern string) bool { return match(pattern, name, false) }) {
		return false
	}
	at := root
	elements := strings.Split(name, "/")
	for i, element := range elements {
		at = filepath.Join(at, element)
		info, err := os.Lstat(at)
		if err != nil {
			return false
		}
		if last := i == len(elements)-1; last && !info.Mode().IsRegular() || !last && !info.IsDir() {
			return false
		}
	}
	return true
}

// Stat returns the state of a transcript's file. That of a session in a database is the state of the
// database's log, or of the database if it has none.
func Stat(file string) (fs.FileInfo, error) {
	database, _, ok := opencodedb.Split(file)
	if !ok {
		return os.Lstat(file)
	}
	if info, err := os.Lstat(database + "-wal"); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return info, nil
	}
	return os.Lstat(database)
}

// IsDatabase reports whether a path is a database with transcripts of the agent, or its log.
func (a Agent) IsDatabase(e Environment, file string) bool {
	return a.Origin == nil && a.Match(e, strings.TrimSuffix(file, "-wal"))
}

// Dirs returns the directories in which new transcripts of the agent can appear, parents first. If
// the agent's own directory does not exist, it returns the closest parent that exists.
func (a Agent) Dirs(ctx context.Context, e Environment) ([]string, error) {
	root := a.Home(e)
	if len(a.Files) == 0 || !filepath.IsAbs(root) {
		return nil, nil
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		for dir := range Upward(filepath.Dir(root)) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				return []string{dir}, nil
			}
		}
		return nil, nil
	}
	dirs := []string{root}
	err := a.walk(ctx, root, func(file, name string, d fs.DirEntry) {
		if d.IsDir() {
			dirs = append(dirs, file)
		}
	})
	return dirs, err
}

// Began returns the directory in which the conversation of a transcript began, and whether the
// transcript says so yet.
func (a Agent) Began(e Environment, trees []string, file string) (dir string, ok bool) {
	dir, ok = a.origin(context.Background())(e, allResolved(trees), file)
	if ok {
		dir = resolved(dir)
	}
	return dir, ok
}

// Belongs reports whether a directory belongs to the repository with these work trees, which is
// then the innermost repository around it.
func Belongs(dir string, trees []string) bool {
	real := allResolved(trees)
	return slices.Contains(real, innermost(resolved(dir), real))
}

// walk calls visit for the directories in which transcripts can be, and for the regular files
// that fit the agent's patterns. It follows a symbolic link only to the root. If a directory
// cannot be read, it visits the others and returns the error. It visits nothing below a relative root,
// which HOME gives if it is not set: that would be in the work tree, whose files others wrote.
func (a Agent) walk(ctx context.Context, root string, visit func(file, name string, d fs.DirEntry)) error {
	if !filepath.IsAbs(root) {
		return nil
	}
	start, err := filepath.EvalSymlinks(root)
	if err != nil {
		return ignoreMissing(err)
	}
	var bad []error
	err = filepath.WalkDir(start, func(file string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			bad = append(bad, ignoreMissing(err)) // the agent may remove files meanwhile
			return nil
		}
		rel, err := filepath.Rel(start, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		fits := slices.ContainsFunc(a.Files, func(pattern string) bool { return match(pattern, name, d.IsDir()) })
		switch {
		case name == ".":
		case d.IsDir() && !fits:
			return fs.SkipDir
		case d.IsDir() || d.Type().IsRegular() && fits:
			visit(filepath.Join(root, rel), name, d)
		}
		return nil
	})
	return errors.Join(append(bad, err)...)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
