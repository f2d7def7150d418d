package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/database"
)

// Load replaces the database by that of a version, byte for byte. It writes a new file and renames it. It returns
// [domarkx.ErrCorrupt] for a version that is not one of this type, and an error if another program uses the database.
func (r *resource) Load(ctx context.Context, reader domarkx.VersionReader, version string) error {
	f, err := atomicfile.Create(r.path, r.mode())
	if err != nil {
		return err
	}
	defer f.Abort() //nolint:errcheck // an error before it says more
	// The new database is durable before anything of the old one is removed.
	if err := errors.Join(restore(ctx, reader, version, f), f.Sync()); err != nil {
		return err
	}
	if err := r.leave(ctx); err != nil {
		return fmt.Errorf("the database is used by another program, end it and try again: %w", err)
	}
	for _, path := range append(r.journals(), r.in(stampName)) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := f.Commit(); err != nil {
		return err
	}
	return r.loaded()
}

// mode returns the permissions for the new database: those of the present one, or 0644 if there is none.
func (r *resource) mode() fs.FileMode {
	info, err := os.Lstat(r.path)
	if err != nil || !info.Mode().IsRegular() {
		return 0o644
	}
	return info.Mode().Perm()
}

// leave makes SQLite finish or undo the changes in the journal and the log of the database and remove both, so that it does
// not apply them to the new file.
func (r *resource) leave(ctx context.Context) error {
	if _, err := os.Lstat(r.path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c, err := r.openDatabase()
	if err != nil {
		return err
	}
	stop := c.Watch(ctx)
	for _, sql := range []string{"PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE", "ROLLBACK"} {
		if err = c.Exec(sql); err != nil {
			break
		}
	}
	if unreadable(err) {
		err = nil
	}
	stop()
	return errors.Join(err, c.Close())
}

// loaded writes the stamp of the present file, since the file is that of the loaded version.
func (r *resource) loaded() error {
	f, err := r.open()
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := newStamp(f)
	if err != nil {
		return err
	}
	return s.write(r.in(stampName))
}

// restore writes the database of a version to a file.
func restore(ctx context.Context, reader domarkx.VersionReader, version string, w io.Writer) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("version %s of an SQLite database: %s: %w", version, fmt.Sprintf(format, args...), domarkx.ErrCorrupt)
	}
	if err := (Plugin{}).CheckVersion(ctx, reader, version); err != nil {
		return err
	}
	files, err := database.Files(ctx, reader, version)
	if err != nil {
		return err
	}
	meta, ok := files[metaFile]
	if !ok {
		return bad("no %s", metaFile)
	}
	if err := checkMeta(ctx, reader, meta); err != nil {
		return err
	}
	content, ok := files[fileName]
	if !ok {
		return bad("no file %s", fileName)
	}
	return database.Copy(ctx, reader, content, w)
}

// checkMeta returns an error unless the file in a version names a known format.
func checkMeta(ctx context.Context, reader domarkx.VersionReader, f domarkx.File) error {
	const longest = 1 << 10
	text, err := database.Read(ctx, reader, f, longest)
	if err != nil {
		return err
	}
	v, err := jsonvalue.ParseValue(text)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", metaFile, err, domarkx.ErrCorrupt)
	}
	if format, _ := v.Get("format"); format.Text() != "1" {
		return fmt.Errorf("%s: format %q: %w", metaFile, format.Text(), domarkx.ErrUnsupported)
	}
	return nil
}
