package sqlite3

import "bytes"

// Magic is the beginning of a database file (https://www.sqlite.org/fileformat.html).
const Magic = "SQLite format 3\x00"

// IsDatabase reports whether a file is a database, given the beginning of its content.
func IsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte(Magic)) }
