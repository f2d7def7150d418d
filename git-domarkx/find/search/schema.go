package search

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// applicationID and schemaVersion identify an index that this program can use
// (https://www.sqlite.org/pragma.html#pragma_application_id). Each change of the schema, or of the part of a message
// that is indexed, needs a new version.
const (
	applicationID = 0x646d7873
	schemaVersion = 12
)

// wordsTable is the full-text index. Its rowid is the number of the message. The column parts contains the parts of
// identifiers such as getUserByID (see analyzer).
const wordsTable = `CREATE VIRTUAL TABLE words USING fts5(prose, calls, parts,
	content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')`

// wordsConfig lists the settings of the full-text index (https://www.sqlite.org/fts5.html#the_hashsize_configuration_option,
// https://www.sqlite.org/fts5.html#the_automerge_configuration_option). With 8 MiB of words in memory, and with segments that are
// merged sixteen at a time, indexing takes a quarter less.
var wordsConfig = []string{
	"INSERT INTO words(words, rank) VALUES('hashsize', 8388608)",
	"INSERT INTO words(words, rank) VALUES('automerge', 0)",
}

// tables lists the statements that create the other tables of the index.
var tables = []string{
	// The indexed sessions: the tip, and the tip up to which the table past contains the history.
	`CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tip BLOB NOT NULL, history BLOB)`,
	// The messages.
	`CREATE TABLE message(id INTEGER PRIMARY KEY, blob BLOB NOT NULL UNIQUE, role INTEGER NOT NULL, model INTEGER)`,
	// The leaves of sessions, with their messages (see leafEntry), and the leaves of each message.
	`CREATE TABLE leaf(id INTEGER PRIMARY KEY, tree BLOB NOT NULL UNIQUE, entries BLOB NOT NULL)`,
	`CREATE TABLE member(message INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY(message, leaf)) WITHOUT ROWID`,
	`CREATE TABLE place(session INTEGER NOT NULL, number INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY(session, number)) WITHOUT ROWID`,
	`CREATE INDEX place_leaf ON place(leaf)`,
	// The messages in all snapshots of sessions, each with a snapshot that contains it, the newest one when it was indexed; and the directories of
	// messages whose messages past contains.
	`CREATE TABLE past(message INTEGER NOT NULL, session INTEGER NOT NULL, snapshot BLOB NOT NULL, k INTEGER NOT NULL, date INTEGER NOT NULL, PRIMARY KEY(message, session)) WITHOUT ROWID`,
	`CREATE TABLE walked(session INTEGER NOT NULL, tree BLOB NOT NULL, PRIMARY KEY(session, tree)) WITHOUT ROWID`,
	// The facets of messages: models, tools and paths.
	`CREATE TABLE facet(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(kind, name))`,
	`CREATE TABLE facet_message(facet INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY(facet, message)) WITHOUT ROWID`,
	// The texts of consecutive messages, compressed together (see block).
	`CREATE TABLE block(first INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
	`CREATE TABLE signature(first INTEGER PRIMARY KEY, bits BLOB NOT NULL)`,
}

// settings are the settings of each connection. The journal file exists only during a transaction, so that no removed
// text stays in it. Deleted content is overwritten with zeros.
var settings = []string{
	"PRAGMA journal_mode=DELETE", "PRAGMA synchronous=NORMAL",
	"PRAGMA secure_delete=ON", "PRAGMA temp_store=MEMORY", "PRAGMA cache_size=-16384",
}

// errForeign is the error for a file that is not an index of this version.
var errForeign = errors.New("not a search index of this version")

// openIndex opens an existing index to update it. It returns errForeign for another file.
func openIndex(path string) (*database, error) {
	d, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	d.fail(d.end(nil))
	d.execAll(settings...)
	return d.opened()
}

// opened returns the database, or the error with which a statement failed.
func (d *database) opened() (*database, error) {
	if err := d.failed(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// openToRead opens an existing index in a transaction that sees one state of it. It returns errForeign for another file.
func openToRead(path string) (*database, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, errForeign
	}
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	d.file = info
	d.begin("DEFERRED")
	if d.number("PRAGMA application_id") != applicationID || d.number("PRAGMA user_version") != schemaVersion {
		d.fail(errForeign)
	}
	return d.opened()
}

// createIndex creates an empty index, and removes any file at path.
func createIndex(path string) (*database, error) {
	if err := removeIndex(path); err != nil {
		return nil, err
	}
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	d.exec("PRAGMA page_size=8192")
	d.execAll(settings...)
	d.begin("IMMEDIATE")
	d.exec(wordsTable)
	d.execAll(wordsConfig...)
	d.execAll(tables...)
	d.execAll(fmt.Sprintf("PRAGMA application_id=%d", applicationID), fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
	if err = errors.Join(d.end(nil), d.close()); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return openIndex(path)
}

// removeIndex removes an index, and the files that SQLite leaves beside it if the process is killed.
func removeIndex(path string) error {
	var err error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		err = errors.Join(err, atomicfile.Remove(path+suffix))
	}
	return err
}

// isDamaged reports whether an error means that the index must be made again.
func isDamaged(err error) bool {
	codes := []int{sqlite3.Corrupt, sqlite3.NotDatabase, sqlite3.Failed, sqlite3.CannotOpen, sqlite3.Constraint, sqlite3.ReadFailed, sqlite3.Mismatch}
	return errors.Is(err, errForeign) || errors.Is(err, os.ErrNotExist) || errors.Is(err, errBlock) || slices.Contains(codes, sqlite3.Primary(err))
}
