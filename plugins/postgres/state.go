package postgres

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// The files of a resource's own directory, besides those of the server.
const (
	cleanName = "clean" // there while the database is what was committed or loaded last
	knownName = "known"
)

func (r *resource) in(name string) string { return filepath.Join(r.dir, name) }

// dirty notes, durably, that the database is going to differ from what was committed
// or loaded.
func (r *resource) dirty() error {
	err := os.Remove(r.in(cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, atomicfile.SyncDir(r.dir))
}

// clean notes that the database is what was committed or loaded, at a mark.
func (r *resource) clean(mark string) error {
	return atomicfile.Replace(r.in(cleanName), []byte(mark+"\n"))
}

// markSQL tells what changes with any change of the database: transactions, and
// sequences, which belong to none.
const markSQL = `SELECT pg_current_snapshot()::text || ' ' || (SELECT md5(coalesce(string_agg(
schemaname || ' ' || sequencename || ' ' || coalesce(last_value::text, ''), ',' ORDER BY schemaname, sequencename), '')) FROM pg_sequences)`

// Changed asks a database that others may change for its transactions; on a server
// of the resource's own only its calls change anything.
func (r *resource) Changed(ctx context.Context) (bool, error) {
	then, err := os.ReadFile(r.in(cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !r.database.shared() {
		return false, err
	}
	c, err := r.database.connect(ctx, forVersions)
	if err != nil {
		return false, err
	}
	now, err := c.value(ctx, markSQL)
	return now+"\n" != string(then), errors.Join(err, c.end(ctx))
}

// forget removes the files of the resource.
func (r *resource) forget() error {
	var errs []error
	for _, name := range []string{cleanName, knownName} {
		if err := os.Remove(r.in(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
