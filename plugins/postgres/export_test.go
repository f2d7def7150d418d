package postgres

// Programs looks for programs in places of a test's.
func Programs(in []string, major string, names ...string) (string, error) {
	return programs(in, major, names...)
}
