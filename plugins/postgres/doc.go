// Package postgres has the resource type postgres: a PostgreSQL database.
//
// # The database
//
// Without a dsn it is on a server of the resource's own, which runs while a process
// of this program works with it and ends with that process, killed or not. It listens
// on a Unix socket only, in a directory that nobody else may enter, and asks for a
// password. Its programs are those of the newest PostgreSQL that is installed, later
// on those of the version that made its files, which are in the resource's directory.
// PostgreSQL does not run as root: a server of root's runs as postgres or nobody, with
// its files in /var/lib/git-domarkx. Tools work as a role that owns the database and
// has no other rights, so that SQL reaches neither files nor programs.
//
// With a dsn it is a database of the user's own, which has to be in git config
// domarkx.allowDSN, of PostgreSQL 15 or later and owned by a role with which SQL
// cannot leave it; the program pg_dump is needed, of the server's version or later. Forks and
// replays work on a server of their own instead.
//
// Each call has a connection of its own. The statements of an execute count all or
// not at all, unless they handle transactions themselves.
//
// # Versions
//
// A version is what the database holds at one moment, so that the same schema and
// rows are the same version (with the same major version of PostgreSQL):
//
//	database.json          the format of this, 1; the tables with their columns; what sequences
//	                       counted to; of the schema public whether it is the "default", of
//	                       the role's "own" or "" missing; the roles that are named
//	schema.sql             the statements before the rows, as pg_dump writes them
//	constraints.sql        those after the rows: indexes, constraints, triggers, policies, publications
//	database.sql           privileges, and what is set for the database itself
//	tables/SCHEMA/TABLE.copy  the rows of a table as COPY writes them in its text format, ordered by
//	                       the primary key with COLLATE "C", else by all columns as text
//	tables/SCHEMA/TABLE.rows/NNNN/NNN.copy  those of a table with more than 64 KiB of them
//	large_objects.copy     the large objects in pieces: number, place, bytes; many like the rows of a table
//
// Names are escaped like database.FileName says. Files of rows are cut where a row's
// digest says so; a change costs the files that it touches.
//
// Loading fills a new database that then takes the name of the old one; of a dsn it
// empties the database and fills it in one transaction. All belongs to the role that loads; a version
// names other roles, which a database of a dsn has to have and a server of the
// resource's own gets. What could not be made again as it was is refused by name when
// it is committed; README.md lists it, and what is the server's. A commit reads
// every table.
package postgres
