// Package fts5 adds rows to a full-text index of SQLite (FTS5) without running its INSERT, which takes
// more than twice the time. It writes the segments of the index in the form in which SQLite's source
// describes them (ext/fts5/fts5_index.c): lists of rows and positions by word, on pages. Files of
// all versions of SQLite with FTS5 have that form. Deleting and merging are left to SQLite. It also reads
// the lists, since ranking them in Go takes a tenth of the time of a query with MATCH.
//
// The index must be contentless, with contentless_delete=1 and the tokenizer unicode61, and without
// prefix indexes.
package fts5
