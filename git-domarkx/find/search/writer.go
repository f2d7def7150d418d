package search

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search/content"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// Kinds of facets.
const (
	modelFacet = iota
	toolFacet
	pathFacet
)

type facet struct {
	kind int
	name string
}

// A writer adds messages to the index, in the transaction of the connection. Each of its statements writes one row:
// before one that writes several, SQLite writes the words that it has collected in memory, in a small segment.
type writer struct {
	db       *database
	analyzer analyzer
	block    *block
	facets   map[facet]int64
	pending  int // bytes of text that the transaction has added
}

// newWriter returns a writer that adds messages to the last block, if it has much space left.
func newWriter(db *database) *writer {
	w := &writer{db: db, block: &block{}, facets: map[facet]int64{}}
	first := int64(-1)
	for s := range db.rows("SELECT first, data FROM block ORDER BY first DESC LIMIT 1") {
		data, _ := s.Column(1).([]byte)
		if len(data) > blockSize/4 {
			break
		}
		var b block
		db.fail(b.decode(data))
		if len(b.texts) <= blockSize/2 {
			first, w.block = s.Int(0), &b
		}
	}
	if first >= 0 {
		db.removeBlock(first)
	}
	return w
}

// flush writes the block to which messages are added.
func (w *writer) flush() {
	if len(w.block.ids) > 0 {
		w.db.addBlock(w.block)
		w.block = &block{}
	}
}

func (w *writer) add(blob []byte, c *content.Message) (id int64) {
	var model any
	if c.Model != "" {
		model = w.facet(facet{modelFacet, c.Model})
	}
	w.db.exec("INSERT INTO message(blob, role, model) VALUES(?, ?, ?)", blob, roleNumber(c.Role), model)
	id = w.db.conn.LastInsert()
	w.analyzer.reset()
	prose := string(w.analyzer.analyze(c.Prose))
	calls := string(w.analyzer.analyze(c.Calls))
	w.db.exec("INSERT INTO words(rowid, prose, calls, parts) VALUES(?, ?, ?, ?)", id, prose, calls, string(w.analyzer.parts))
	w.addFacets(id, toolFacet, c.Tools)
	w.addFacets(id, pathFacet, c.Paths)
	if w.block.add(id, c.Text); len(w.block.texts) >= blockSize {
		w.flush()
	}
	w.pending += len(c.Text) + 1<<8
	return id
}

// addFacets adds names of one kind as facets of a message.
func (w *writer) addFacets(message int64, kind int, names []string) {
	for _, name := range names {
		w.db.exec("INSERT OR IGNORE INTO facet_message(facet, message) VALUES(?, ?)", w.facet(facet{kind, name}), message)
	}
}

func roleNumber(r domarkx.Role) int64 {
	if r == domarkx.User {
		return 0
	}
	return 1
}

func roleOf(n int64) domarkx.Role {
	if n == 0 {
		return domarkx.User
	}
	return domarkx.Assistant
}

// facet returns the number of a facet, which it creates if necessary.
func (w *writer) facet(f facet) int64 {
	if id, ok := w.facets[f]; ok {
		return id
	}
	id := w.db.number("SELECT id FROM facet WHERE kind = ? AND name = ?", f.kind, f.name)
	if id == 0 {
		w.db.exec("INSERT INTO facet(kind, name) VALUES(?, ?)", f.kind, f.name)
		id = w.db.conn.LastInsert()
	}
	if len(w.facets) > 1<<16 {
		clear(w.facets)
	}
	w.facets[f] = id
	return id
}

// A leafEntry is a message of a leaf. A leaf is stored as pairs of varints, one for each message: the distance of its
// number from the number before, and that of its date from the date before.
type leafEntry struct{ message, date int64 }

func encodeLeaf(entries []leafEntry) []byte {
	var data []byte
	var last leafEntry
	for _, e := range entries {
		data = binary.AppendVarint(data, e.message-last.message)
		data = binary.AppendVarint(data, e.date-last.date)
		last = e
	}
	return data
}

func decodeLeaf(data []byte) ([]leafEntry, error) {
	entries := make([]leafEntry, 0, 16)
	var last leafEntry
	d := derived.NewDecoder(string(data))
	for d.More() {
		last = leafEntry{last.message + d.Varint(), last.date + d.Varint()}
		entries = append(entries, last)
	}
	if d.Bad() {
		return nil, errBlock
	}
	return entries, nil
}

// addLeaf stores a leaf, whose messages are in the index, and returns its number.
func (w *writer) addLeaf(tree []byte, entries []leafEntry) (leaf int64) {
	w.db.exec("INSERT INTO leaf(tree, entries) VALUES(?, ?)", tree, encodeLeaf(entries))
	leaf = w.db.conn.LastInsert()
	for _, e := range entries {
		w.db.exec("INSERT OR IGNORE INTO member(message, leaf) VALUES(?, ?)", e.message, leaf)
	}
	return leaf
}

// binaryID returns the bytes of an object id of the store.
func binaryID(id string) []byte {
	b, _ := hex.DecodeString(id)
	return b
}
