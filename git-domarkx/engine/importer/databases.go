package importer

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
)

// Databases reads the databases in which OpenCode keeps its sessions (package opencodedb). Without Open, the importer
// reads none.
type Databases struct {
	// Path returns the path by which a session in a database is imported and recorded; Split splits it. ok is false for
	// any other path.
	Path  func(database, session string) string
	Split func(path string) (database, session string, ok bool)
	// IsStorage reports whether a directory has sessions as a database has them.
	IsStorage func(dir string) bool
	// Open opens a database or such a directory. The error matches domarkx.ErrUnsupported if OpenCode did not write it.
	Open func(path string) (Database, error)
}

// A Database is an open database. Its errors match [opencode.ErrChanged] if a read can be repeated.
type Database interface {
	// Sessions returns the sessions, the oldest first.
	Sessions(ctx context.Context) ([]opencode.StoredSession, error)
	// StoredFiles calls visit for each file of a session in a directory, without reading the files.
	StoredFiles(id string, visit func(name string, info fs.FileInfo)) error
	// Export writes a session in the format of the command "opencode export". It omits and reports invalid rows.
	Export(ctx context.Context, id string, w io.Writer) (skipped []string, err error)
	Close() error
}

// noDatabases are databases that are not read.
func noDatabases() Databases {
	return Databases{
		Split:     func(string) (database, session string, ok bool) { return "", "", false },
		IsStorage: func(string) bool { return false },
		Open: func(string) (Database, error) {
			return nil, fmt.Errorf("%w: databases are not read here", domarkx.ErrUnsupported)
		},
	}
}
