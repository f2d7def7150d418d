package agents

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/opencode"
	"github.com/domarkx/domarkx/git-domarkx/agents/opencodedb"
)

// readDatabase opens a database of OpenCode and reads something from it, again if the program
// writes it meanwhile.
func readDatabase[T any](ctx context.Context, path string, read func(*opencodedb.DB, context.Context) (T, error)) (result T, err error) {
	for range 3 {
		var db *opencodedb.DB
		if db, err = opencodedb.Open(path); err != nil {
			return result, err
		}
		result, err = read(db, ctx)
		if err = errors.Join(err, db.Close()); !errors.Is(err, opencode.ErrChanged) {
			break
		}
	}
	return result, err
}

// directories are the directories in which the sessions of databases began, read once.
type directories struct {
	ctx context.Context
	of  map[string]map[string]string // by database and session
}

func (d *directories) began(_ Environment, _ []string, file string) (dir string, ok bool) {
	database, session, ok := opencodedb.Split(file)
	if !ok {
		return "", false
	}
	if d.of[database] == nil {
		d.of[database] = map[string]string{}
		sessions, err := readDatabase(d.ctx, database, (*opencodedb.DB).Sessions)
		if err != nil {
			return "", false
		}
		for _, s := range sessions {
			d.of[database][s.ID] = s.Directory
		}
	}
	dir, ok = d.of[database][session]
	return dir, ok
}
