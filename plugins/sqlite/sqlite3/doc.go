// Package sqlite3 gives access to the part of SQLite's C interface that the plugin sqlite and the search index need,
// and that database/sql does not offer: single statements, the authorizer, limits and interrupts. Only one goroutine at
// a time may use a connection.
//
// We tried zombiezen.com/go/sqlite instead. Its statements lose the names of repeated columns and cannot report whether
// they only read, and its authorizer does not get the names of functions.
//
// For the functions of SQLite see https://www.sqlite.org/c3ref/intro.html.
package sqlite3
