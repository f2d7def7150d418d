// Package postgres implements the resource type postgres: a PostgreSQL database.
//
// # The database
//
// Without a dsn, the database is on a private server of the resource. The server
//
//   - runs while a process of this program uses it, and ends with that process, killed or not;
//   - listens only on a Unix socket in a directory that other users cannot enter, and requires a
//     password;
//   - uses the newest installed PostgreSQL at first, and later the major version that created its
//     files, which are in the resource's directory;
//   - runs as postgres or nobody if this program runs as root, because PostgreSQL refuses root.
//     Its files are then in /var/lib/git-domarkx.
//
// Tools connect as a role that owns the database and has no other privileges, so SQL can reach neither files nor programs.
//
// With a dsn, the database is an existing one of the user. git config domarkx.allowDSN must allow it; it must be of
// PostgreSQL 15 or later and owned by a role whose statements cannot leave the database. The programs pg_dump and
// pg_restore must be installed, of the server's version or later. Forks and replays use a private server instead.
//
// Each call has its own connection. The statements of an execute take effect together or not at
// all, unless they control transactions themselves.
//
// # Versions
//
// A version is a consistent snapshot of the database. Equal schemas and rows give equal versions
// with the same major version of PostgreSQL:
//
//	database.json          the format version, 1; the tables with their columns; the values of
//	                       sequences; whether the schema public is the "default" one, the
//	                       role's "own", or "" missing; the roles that statements name
//	schema.sql             the statements before the rows, as pg_dump writes them
//	constraints.sql        the statements after the rows: indexes, constraints, triggers, policies,
//	                       publications
//	database.sql           settings of the database itself
//	tables/SCHEMA/TABLE.copy  the rows of a table in COPY's text format, ordered by the primary
//	                       key with COLLATE "C", else by all columns as text
//	tables/SCHEMA/TABLE.rows/NNNN/NNN.copy  the rows of a table with more than 64 KiB of them
//
// [database.FileName] encodes names. Rows are divided into files by their digests, so a change
// only affects the files that contain changed rows.
//
// A load fills a new database, which then takes the name of the old one; a database of a dsn is emptied and filled in one
// transaction. The loading role owns everything, and privileges are the default ones. If the policies of a version name
// other roles, a database of a dsn must have them, and a private server creates them. A commit refuses, by name, objects
// that a load could not restore; README.md lists them, and what belongs to the server. A commit reads every table. Nothing
// that reads a database calls a function that the database's owner may have defined, as a more powerful role.
package postgres
