package sqlite

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// parts lists the names and types of the files at the top of a version.
var parts = map[string]domarkx.FileType{
	metaFile: domarkx.Regular, fileName: domarkx.Regular, schemaFile: domarkx.Regular, brokenFile: domarkx.Regular,
	tablesDirectory: domarkx.Directory,
}

var _ domarkx.VersionChecker = Plugin{}

// CheckVersion returns [domarkx.ErrCorrupt] for a version with files that Commit does not create. With a journal among
// them, SQLite would change the database when it is opened after a checkout. See [domarkx.VersionChecker].
func (Plugin) CheckVersion(ctx context.Context, reader domarkx.VersionReader, version string) error {
	top, err := reader.Top(ctx, version)
	if err != nil {
		return err
	}
	files, err := reader.Directory(ctx, top.ID)
	if err != nil {
		return err
	}
	for _, f := range files {
		if kind, ok := parts[f.Name]; !ok || f.Type != kind {
			return fmt.Errorf("version %s of an SQLite database: unexpected file %q (%v): %w", version, f.Name, f.Type, domarkx.ErrCorrupt)
		}
	}
	return nil
}
