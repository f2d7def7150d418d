// Package sqlite has the resource type sqlite: a database in one file, with SQLite
// built in.
//
// # The database
//
// A resource is a file: one of its own, or the one in the work tree that the
// config's path names, which is then worked on in place. Each call has a
// connection of its own; settings and temporary tables end with it. Statements
// stay within the file: an authorizer refuses what would open another one (ATTACH,
// VACUUM INTO, extensions), break this one (writable_schema), or tell of the machine,
// and a query gets nothing but reading. Values longer than 128 MiB are refused.
//
// # Versions
//
// A version has the bytes of the file, which it is restored from exactly, and
// besides what they mean, to be read by people and tools:
//
//	database.json               the format of this, 1
//	database.sqlite             the file itself, stored in parts, so that a change costs little
//	schema.sql                  the statements that make its tables, indexes, views, triggers
//	tables/NAME.jsonl           the rows of a table in the order of its key, an object a line
//	tables/NAME.rows/NNNN/NNN.jsonl  those of one with more than 64 KiB of them
//	tables/NAME.txt             instead of the rows: why they are not here
//	schema.txt                  instead of schema and tables: the file is no database, or broken
//
// Names of tables are escaped like database.FileName says, values like package
// database says. Rows are shown of tables with up to 4 MiB of them, and up to 16 MiB
// in all, since they are read for each version.
//
// The bytes are read in one transaction that keeps writers away, after what is in a
// write-ahead log went to the file; a program that keeps using the database is
// waited for a little, and is an error then. A version is loaded by writing the
// file aside and renaming it; other programs have to leave the database for that.
package sqlite
