package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/database"
)

// objectsPath is the path of the large objects in versions of earlier commits, in pieces: number of
// the object, offset and bytes. Commits refuse large objects now.
const objectsPath = "large_objects"

// makeObjects creates the large objects of a version.
func (v *stored) makeObjects(ctx context.Context, c *connection) error {
	if len(v.objects.files) == 0 {
		return nil
	}
	err := c.do(ctx, "CREATE TEMPORARY TABLE domarkx_pieces (object oid, at bigint, data bytea) ON COMMIT DROP")
	if err == nil {
		err = v.copyRows(ctx, c, v.objects, "COPY pg_temp.domarkx_pieces FROM STDIN")
	}
	for _, sql := range []string{
		"SELECT count(lo_create(object)) FROM (SELECT DISTINCT object FROM pg_temp.domarkx_pieces) o",
		"SELECT count(lo_put(object, at, data)::text) FROM pg_temp.domarkx_pieces",
		"DROP TABLE pg_temp.domarkx_pieces",
	} {
		if err == nil {
			err = c.do(ctx, sql)
		}
	}
	if err != nil {
		return fmt.Errorf("create the large objects: %w", err)
	}
	return nil
}

// objectFiles finds the large objects of a version.
func objectFiles(ctx context.Context, reader domarkx.VersionReader, top map[string]domarkx.File) (rows, error) {
	if f, ok := top[objectsPath+"."+extension]; ok {
		return rows{[]domarkx.File{f}}, nil
	}
	directory, ok := top[objectsPath+".rows"]
	if !ok {
		return rows{}, nil
	}
	var found rows
	err := database.Walk(ctx, reader, objectsPath+".rows", directory, func(path string, f domarkx.File) error {
		if strings.HasSuffix(path, "."+extension) {
			found.files = append(found.files, f)
		}
		return nil
	})
	return found, err
}
