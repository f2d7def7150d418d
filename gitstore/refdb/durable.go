package refdb

import (
	"errors"
	"io/fs"
	"path"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// makeDurable syncs what git update-ref has not synced: after many changes the whole file system, otherwise the
// directories in which git has renamed or removed files.
func (r *Refs) makeDurable(changes []Change) error {
	if r.git.Reftable {
		if _, err := r.SyncTables(nil); err != nil {
			return err
		}
		return atomicfile.SyncDir(r.path(tablesDir))
	}
	if oneSync(changes) {
		return atomicfile.SyncFS(r.common)
	}
	synced := map[string]bool{}
	sync := func(dir string) error {
		if synced[dir] {
			return nil
		}
		synced[dir] = true
		return atomicfile.SyncDir(r.path(dir))
	}
	for _, c := range changes {
		if c.New == c.Old {
			continue
		}
		dir := path.Dir(c.Ref)
		err := sync(dir)
		// Git removes a directory that has become empty, and creates a missing one: that changes its parent.
		for dir != "refs" && (errors.Is(err, fs.ErrNotExist) || err == nil && c.Old == "") {
			dir = path.Dir(dir)
			err = sync(dir)
		}
		if err != nil {
			return err
		}
		if c.New == "" {
			if err := sync("."); err != nil { // git has replaced packed-refs there
				return err
			}
		}
	}
	return nil
}
