package postgres

// Programs searches for PostgreSQL's programs in the given places.
func Programs(in []string, major string, names ...string) (string, error) {
	return programs(in, major, names...)
}
