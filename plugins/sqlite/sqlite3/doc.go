// Package sqlite3 is as much of SQLite's C interface as the plugin sqlite needs:
// statements one by one, the authorizer, limits and locks, which database/sql has
// no place for. A connection is used by one goroutine at a time.
//
// The functions are those of https://www.sqlite.org/c3ref/intro.html.
package sqlite3
