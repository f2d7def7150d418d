// Package sqlite implements the resource type sqlite: a database in one file, used with a built-in SQLite.
//
// # The database
//
// A resource is one database file: a private one, or the file in the work tree that the config's path names. Each call
// has its own connection, so that settings and temporary tables end with the call. An authorizer
// (https://www.sqlite.org/c3ref/set_authorizer.html) confines statements to the file. It refuses statements that would
// open another file (ATTACH, VACUUM INTO, extensions), damage this one (writable_schema) or reveal data of the machine.
// Queries cannot write. Values longer than 128 MiB are refused.
//
// # Versions
//
// A version contains the bytes of the file, from which the file is restored exactly, and the same content in a form for
// people and tools:
//
//	database.json               the format version, 1
//	database.sqlite             the file itself, stored in parts so that a small change needs little space
//	schema.sql                  the statements that create the tables, indexes, views and triggers
//	tables/NAME.jsonl           the rows of a table in the order of its key, one object per line
//	tables/NAME.rows/NNNN/NNN.jsonl  the rows of a table with more than 64 KiB of them
//	tables/NAME.txt             the reason why the rows of a table are omitted
//	schema.txt                  the reason why schema and tables are omitted: the file is
//	                            damaged, or not a database
//
// [database.FileName] encodes the names of tables. Package database describes the encoding of values. A version omits
// the rows of a table if they have more than 4 MiB, and all further rows after 16 MiB in total, since each commit reads
// them.
//
// A commit first moves the write-ahead log into the file, and reads the bytes in one transaction that keeps other
// programs from writing. If another program uses the database, the commit waits for a short time and then returns an
// error. A load writes a temporary file and renames it. Other programs must close the database before a load.
package sqlite
