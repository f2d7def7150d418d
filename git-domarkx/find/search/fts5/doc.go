// Package fts5 adds rows to a full-text index of SQLite (FTS5, https://www.sqlite.org/fts5.html) without SQLite's
// INSERT, which takes more than twice the time. It writes segments of the index in the format that SQLite's source
// describes (ext/fts5/fts5_index.c): pages with words and, for each word, the rows and positions where it occurs. All
// versions of SQLite with FTS5 use this format. SQLite itself deletes rows and merges segments. The package also reads
// the index, since ranking in Go takes a tenth of the time of a query with MATCH.
//
// The index must be contentless, with contentless_delete=1, with the tokenizer unicode61 and its option
// remove_diacritics 2, and without prefix indexes.
package fts5
