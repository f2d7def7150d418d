// Package search finds messages of sessions by words, fixed strings and regular expressions.
//
// It keeps an index in the file search.db in the store's state directory. The index consists of a full-text index of
// SQLite (FTS5, https://www.sqlite.org/fts5.html), the compressed texts of the messages, and the places of the messages
// in sessions. Messages are identified by their blobs, so that a message in many sessions is indexed once. Each search
// first updates the index, in transactions. A killed process leaves an index that is out of date but correct. All
// content of the index comes from the store: if the file is missing, damaged or of another version, the index is made
// again.
//
// FTS5 finds words, and has no copy of the texts. Fixed strings and regular expressions are found by reading the texts,
// except for blocks whose signature excludes a match. An index of trigrams would be more than twice the size of the texts.
//
// The binding to SQLite is that of the resource type sqlite, which is part of the program in any case and opens no file
// through links. zombiezen.com/go/sqlite would be a second binding to the same translated library, and has more (pools,
// functions, sessions) than the index needs.
package search
