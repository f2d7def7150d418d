package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
	for {
		if slices.Contains(trees, dir) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
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
