package postgres

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Files in a resource's own directory, besides those of the server.
const (
	cleanName = "clean" // exists while the database equals the last commit or load
	knownName = "known"
)

func (r *resource) in(name string) string { return filepath.Join(r.dir, name) }

// dirty records, durably, that the database is about to differ from the last commit or load.
func (r *resource) dirty() error {
	err := os.Remove(r.in(cleanName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, atomicfile.SyncDir(r.dir))
}

// clean records that the database at a mark equals the last commit or load.
func (r *resource) clean(mark string) error {
	return atomicfile.Replace(r.in(cleanName), []byte(mark+"\n"))
}

// markSQL returns a mark that differs after any change: it covers transactions, and sequences, which
// change outside of transactions.
const markSQL = `SELECT pg_current_snapshot()::text || ' ' || (SELECT md5(coalesce(string_agg(
schemaname || ' ' || sequencename || ' ' || coalesce(last_value::text, ''), ',' ORDER BY schemaname, sequencename), '')) FROM pg_sequences)`

// Changed compares marks if other programs may change the database. On a private server, only calls
// of the resource's tools can change anything.
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
