package postgres

import "testing"

// Programs searches for PostgreSQL's programs in the given places.
func Programs(in []string, major string, names ...string) (string, error) {
	return programs(in, major, names...)
}

// LimitSQL makes a test have another limit on the statements of a version.
func LimitSQL(t *testing.T, limit int64) {
	before := maxSQL
	t.Cleanup(func() { maxSQL = before })
	maxSQL = limit
}
