package search

import (
	"errors"
	"fmt"
	"os"

	"github.com/domarkx/domarkx/git-domarkx/engine/search/fts5"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// applicationID and schemaVersion identify an index that this program can use. Any change of the
// schema, or of the indexed part of a message, needs another version.
const (
	applicationID = 0x646d7873
	schemaVersion = 4
)

// wordsTable is the full-text index; its rowid is the message's. Column parts has the parts of identifiers
// such as getUserByID (see analyzer).
const wordsTable = `CREATE VIRTUAL TABLE words USING fts5(prose, calls, parts,
	content='', contentless_delete=1, tokenize='unicode61')`

const wordsColumns = 3

// tables are the other tables of the index.
var tables = []string{
	// The sessions as they are indexed: the tip, and the tip with whose history past is up to date.
	`CREATE TABLE session(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, tip BLOB NOT NULL, history BLOB)`,
	// The messages by number of their blobs (see blobKey), and by number in the index.
	`CREATE TABLE blob(key INTEGER PRIMARY KEY, message INTEGER NOT NULL)`,
	`CREATE TABLE message(id INTEGER PRIMARY KEY, blob BLOB NOT NULL, role INTEGER NOT NULL, model INTEGER, leaf INTEGER NOT NULL)`,
	// The sizes of messages, for ranking (see sizeWriter).
	`CREATE TABLE size(row INTEGER PRIMARY KEY, codes BLOB NOT NULL)`,
	// Leaves of sessions with their messages (see leafEntry), the newest date among them, and the leaves of a message but the first.
	`CREATE TABLE leaf(id INTEGER PRIMARY KEY, tree BLOB NOT NULL UNIQUE, newest INTEGER NOT NULL, entries BLOB NOT NULL)`,
	`CREATE TABLE shared(message INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY(message, leaf)) WITHOUT ROWID`,
	`CREATE TABLE place(session INTEGER NOT NULL, number INTEGER NOT NULL, leaf INTEGER NOT NULL, PRIMARY KEY(session, number)) WITHOUT ROWID`,
	`CREATE INDEX place_leaf ON place(leaf)`,
	// Texts that are in a session's history but not in its tip, with the newest snapshot that has them.
	`CREATE TABLE past(message INTEGER NOT NULL, session INTEGER NOT NULL, snapshot BLOB NOT NULL, k INTEGER NOT NULL, date INTEGER NOT NULL, PRIMARY KEY(message, session)) WITHOUT ROWID`,
	`CREATE TABLE walked(session INTEGER NOT NULL, tree BLOB NOT NULL, PRIMARY KEY(session, tree)) WITHOUT ROWID`,
	// What messages have besides text: models, tools and paths.
	`CREATE TABLE facet(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, name TEXT NOT NULL, UNIQUE(kind, name))`,
	`CREATE TABLE facet_message(facet INTEGER NOT NULL, message INTEGER NOT NULL, PRIMARY KEY(facet, message)) WITHOUT ROWID`,
	// The texts of successive messages, compressed together (see block).
	`CREATE TABLE block(first INTEGER PRIMARY KEY, data BLOB NOT NULL)`,
	`CREATE TABLE signature(first INTEGER PRIMARY KEY, bits BLOB NOT NULL)`,
}

// settings are the settings of each connection. The journal is a file that exists during a transaction
// only, so nothing of a removed text stays in it; overwritten content is replaced by zeros.
var settings = []string{
	"PRAGMA busy_timeout=60000", "PRAGMA journal_mode=DELETE", "PRAGMA synchronous=NORMAL",
	"PRAGMA secure_delete=ON", "PRAGMA temp_store=MEMORY", "PRAGMA cache_size=-16384",
}

// errForeign reports a file that is not an index of this version.
var errForeign = errors.New("not a search index of this version")

// openIndex opens an existing index.
func openIndex(path string) (*database, error) {
	if info, err := os.Lstat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() || info.Size() == 0 {
		return nil, errForeign
	}
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		err = errors.Join(err, d.exec(s))
	}
	if err == nil {
		var app, version int64
		app, err = d.number("PRAGMA application_id")
		if err == nil {
			version, err = d.number("PRAGMA user_version")
		}
		if err == nil && (app != applicationID || version != schemaVersion) {
			err = errForeign
		}
	}
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// createIndex makes an empty index, in place of any file at path. The connection that did so is closed: it would
// not see the words that a writer adds (see fts5.Writer).
func createIndex(path string) (*database, error) {
	if err := removeIndex(path); err != nil {
		return nil, err
	}
	d, err := openDatabase(path)
	if err != nil {
		return nil, err
	}
	for _, s := range append([]string{"PRAGMA page_size=8192"}, settings...) {
		err = errors.Join(err, d.exec(s))
	}
	if err == nil {
		err = d.begin("IMMEDIATE")
	}
	if err == nil {
		for _, s := range append([]string{wordsTable}, tables...) {
			if err == nil {
				err = d.exec(s)
			}
		}
		if err == nil {
			err = d.exec(fmt.Sprintf("PRAGMA application_id=%d", applicationID))
		}
		if err == nil {
			err = d.exec(fmt.Sprintf("PRAGMA user_version=%d", schemaVersion))
		}
		if err == nil {
			err = fts5.Configure(d.conn, "words")
		}
		err = d.end(err)
	}
	if err = errors.Join(err, d.close()); err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return openIndex(path)
}

// removeIndex removes an index with the files that SQLite leaves beside it after a kill.
func removeIndex(path string) error {
	var err error
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		err = errors.Join(err, atomicfile.Remove(path+suffix))
	}
	return err
}

// isDamaged reports whether an error means that the index has to be made again.
func isDamaged(err error) bool {
	if errors.Is(err, errForeign) || errors.Is(err, os.ErrNotExist) || errors.Is(err, errBlock) || errors.Is(err, fts5.ErrDamaged) {
		return true
	}
	switch sqlite3.Primary(err) {
	case sqlite3.Corrupt, sqlite3.NotDatabase, sqlite3.Failed, sqlite3.CannotOpen, sqlite3.Constraint, sqlite3.ReadFailed, sqlite3.Mismatch:
		return true
	}
	return false
}
