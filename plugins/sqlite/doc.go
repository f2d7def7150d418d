// Package sqlite implements the resource type sqlite: a database in one file, with SQLite
// built in.
//
// # The database
//
// A resource is a database file: a private one, or the file in the work tree that the config's
// path names. Each call has its own connection, so settings and temporary tables end with the
// call. An authorizer confines statements to the file: it refuses those that would open another
// file (ATTACH, VACUUM INTO, extensions), damage this one (writable_schema) or reveal data of the
// machine. Queries can only read. Values longer than 128 MiB are refused.
//
// # Versions
//
// A version contains the bytes of the file, from which it is restored exactly, and the same
// content in a form for people and tools:
//
//	database.json               the format version, 1
//	database.sqlite             the file itself, stored in parts so that a change costs little
//	schema.sql                  the statements that create the tables, indexes, views and triggers
//	tables/NAME.jsonl           the rows of a table in the order of its key, one object per line
//	tables/NAME.rows/NNNN/NNN.jsonl  the rows of a table with more than 64 KiB of them
//	tables/NAME.txt             the reason why the rows of a table are omitted
//	schema.txt                  the reason why schema and tables are omitted: the file is
//	                            damaged, or not a database
//
// [database.FileName] encodes the names of tables, and package database describes the encoding of
// values. Rows of a table with more than 4 MiB of them are omitted, and all rows after 16 MiB in
// total, since each commit reads them.
//
// A commit first moves the write-ahead log into the file and reads the bytes in one transaction
// that blocks writers. It waits a short time for a program that is using the database, and then
// fails. A load writes a temporary file and renames it; other programs must close the database
// for that.
package sqlite
