// Package sqlite3 wraps the part of SQLite's C interface that the plugin sqlite and the search index
// need: single statements, the authorizer, limits and interrupts, which database/sql does not
// expose. A connection may be used by one goroutine at a time.
//
// zombiezen.com/go/sqlite was tried in its place. Its statements lose the names of
// repeated columns and cannot say whether they only read, and its authorizer does not
// pass on function names.
//
// See https://www.sqlite.org/c3ref/intro.html for the functions.
package sqlite3
