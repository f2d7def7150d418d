// Package search finds messages of sessions by words, fixed strings and regular expressions.
//
// It keeps an index in the file search.db in the store's state directory. The index consists of a full-text index of
// SQLite (FTS5, https://www.sqlite.org/fts5.html), the compressed texts of the messages, and the places of the messages
// in sessions. Messages are identified by their blobs, so that a message in many sessions is indexed once. Each search
// first updates the index, in transactions. A killed process leaves an index that is out of date but correct. All
// content of the index comes from the store: if the file is missing, damaged or of another version, the index is made
// again.
package search
