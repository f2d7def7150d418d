// Package search finds messages of sessions by words, fixed strings and regular expressions.
//
// It keeps an index in the file search.db of the store's state directory: a full-text index of
// SQLite (FTS5) by message, the compressed texts of the messages, and where sessions have them. A message
// is identified by its blob, so a message that many sessions share is indexed once. The index is
// brought up to date before each search, in transactions: a killed process leaves it behind, but
// never wrong. It is derived from the store; a missing, damaged or foreign file is made again.
package search
