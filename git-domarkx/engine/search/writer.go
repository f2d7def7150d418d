package search

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/search/fts5"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
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

// A writer adds messages to the index, in the transaction of the connection.
type writer struct {
	db         *database
	analyzer   *analyzer
	words      *fts5.Writer
	compressor compressor
	block      block
	sizes      sizeWriter
	prose      []byte
	calls      []byte
	facets     map[facet]int64
	last       int64              // number of the last message
	added      map[string]int64   // added messages by blob key; they are not in the table blob yet
	keys       map[int64]struct{} // keys of all messages (see blobKey); nil if the table had some before
	hadBlobs   bool               // whether the table has some
	nextLeaf   int64
	pending    int // bytes of text that the transaction has added
}

func newWriter(db *database) (*writer, error) {
	words, err := fts5.New(db.conn, "words", wordsColumns)
	if err != nil {
		return nil, fmt.Errorf("search index: %w", err)
	}
	w := &writer{db: db, analyzer: newAnalyzer(), words: words, added: map[string]int64{}, facets: map[facet]int64{}}
	if w.nextLeaf, err = db.number("SELECT max(id) FROM leaf"); err == nil {
		w.last, err = db.number("SELECT max(id) FROM message")
	}
	if err == nil {
		if w.hadBlobs = w.last > 0; !w.hadBlobs {
			w.keys = map[int64]struct{}{}
		}
		err = errors.Join(w.reopenBlock(), w.sizes.open(db, w.last))
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) close() error { return w.words.Close() }

// reopenBlock reads the last block, to add messages to it, if it has much space left.
func (w *writer) reopenBlock() error {
	var d decompressor
	first := int64(-1)
	err := w.db.query("SELECT first, data FROM block ORDER BY first DESC LIMIT 1", func(s *sqlite3.Stmt) error {
		data := s.Column(1).([]byte)
		if len(data) > blockSize/4 {
			return nil
		}
		var b block
		if err := d.decode(data, &b); err != nil || len(b.texts) > blockSize/2 {
			return err
		}
		first = s.Int(0)
		w.block = *b.without(func(int64) bool { return false })
		return nil
	})
	if err != nil || first < 0 {
		return err
	}
	return w.db.removeBlock(first)
}

// flush writes all data that is still in memory to the index.
func (w *writer) flush() error {
	if err := w.words.Flush(); err != nil {
		return fmt.Errorf("search index: %w", err)
	}
	return errors.Join(w.flushBlobs(), w.sizes.flush(), w.flushBlock())
}

// flushBlock writes the block to which messages are added.
func (w *writer) flushBlock() error {
	if len(w.block.ids) == 0 {
		return nil
	}
	err := w.db.addBlock(&w.compressor, &w.block)
	w.block.reset()
	return err
}

// blobKey returns the number by which a message is looked up: half of the id of its blob. If two blobs have the same
// number, the second one gets the next free number.
func blobKey(blob []byte) int64 { return int64(binary.BigEndian.Uint64(blob) >> 1) }

// find returns the number of a message in the index, or 0 if the index does not contain it.
func (w *writer) find(blob []byte) (message int64, err error) {
	if _, ok := w.keys[blobKey(blob)]; !ok && w.keys != nil {
		return 0, nil
	}
	if message, ok := w.added[string(blob)]; ok || !w.hadBlobs {
		return message, nil
	}
	for key := blobKey(blob); ; key++ {
		found, same := int64(0), false
		err := w.db.query("SELECT blob.message, message.blob FROM blob LEFT JOIN message ON message.id = blob.message WHERE key = ?", func(s *sqlite3.Stmt) error {
			found = s.Int(0)
			other, _ := s.Column(1).([]byte)
			same = string(other) == string(blob)
			return nil
		}, key)
		if err != nil || found == 0 || same {
			return found, err
		}
	}
}

// flushBlobs writes the blob keys of the messages that were added, in the order of the table.
func (w *writer) flushBlobs() error {
	type row struct{ key, message int64 }
	rows := make([]row, 0, len(w.added))
	for blob, message := range w.added {
		rows = append(rows, row{blobKey([]byte(blob)), message})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	for _, r := range rows {
		for key := r.key; ; key++ {
			if err := w.db.exec("INSERT OR IGNORE INTO blob(key, message) VALUES(?, ?)", key, r.message); err != nil {
				return err
			}
			if w.db.conn.Changes() > 0 {
				break
			}
		}
	}
	w.hadBlobs = w.hadBlobs || len(w.added) > 0
	clear(w.added)
	return nil
}

// add indexes a message and returns its number. leaf is the first leaf that contains the message, or 0 if none does.
func (w *writer) add(blob []byte, c *content, leaf int64) (int64, error) {
	var model any
	if c.model != "" {
		id, err := w.facet(facet{modelFacet, c.model})
		if err != nil {
			return 0, err
		}
		model = id
	}
	w.last++
	id := w.last
	w.added[string(blob)] = id
	if w.keys != nil {
		w.keys[blobKey(blob)] = struct{}{}
	}
	err := w.db.exec("INSERT INTO message(id, blob, role, model, leaf) VALUES(?, ?, ?, ?, ?)", id, blob, roleNumber(c.role), model, leaf)
	w.analyzer.reset()
	w.prose = w.analyzer.analyze(w.prose[:0], c.prose)
	w.calls = w.analyzer.analyze(w.calls[:0], c.calls)
	if err == nil {
		err = w.words.Add(id, w.prose, w.calls, w.analyzer.parts)
	}
	if err == nil {
		err = w.addFacets(id, toolFacet, c.tools)
	}
	if err == nil {
		err = w.addFacets(id, pathFacet, c.paths)
	}
	if err == nil {
		err = w.sizes.add(id, len(c.prose)+len(c.calls))
	}
	w.block.add(id, c.text)
	if err == nil && len(w.block.texts) >= blockSize {
		err = w.flushBlock()
	}
	w.pending += len(c.text) + 1<<8
	return id, err
}

// addFacets adds names of one kind as facets of a message.
func (w *writer) addFacets(message int64, kind int, names []string) error {
	for _, name := range names {
		f, err := w.facet(facet{kind, name})
		if err == nil {
			err = w.db.exec("INSERT OR IGNORE INTO facet_message(facet, message) VALUES(?, ?)", f, message)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func roleNumber(r domarkx.Role) int {
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
func (w *writer) facet(f facet) (int64, error) {
	if id, ok := w.facets[f]; ok {
		return id, nil
	}
	id, err := w.db.number("SELECT id FROM facet WHERE kind = ? AND name = ?", f.kind, f.name)
	if err == nil && id == 0 {
		err = w.db.exec("INSERT INTO facet(kind, name) VALUES(?, ?)", f.kind, f.name)
		id = w.db.conn.LastInsert()
	}
	if len(w.facets) > 1<<16 {
		clear(w.facets)
	}
	w.facets[f] = id
	return id, err
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
	for len(data) > 0 {
		message, n := binary.Varint(data)
		if n <= 0 {
			return nil, errBlock
		}
		date, m := binary.Varint(data[n:])
		if m <= 0 {
			return nil, errBlock
		}
		data = data[n+m:]
		last = leafEntry{last.message + message, last.date + date}
		entries = append(entries, last)
	}
	return entries, nil
}

// addLeaf stores a leaf, whose messages are in the index. fresh contains the messages that were added with it.
func (w *writer) addLeaf(leaf int64, tree []byte, entries []leafEntry, fresh map[int64]bool) error {
	newest := int64(0)
	var err error
	for _, e := range entries {
		newest = max(newest, e.date)
		if !fresh[e.message] {
			err = errors.Join(err, w.db.exec("INSERT OR IGNORE INTO shared(message, leaf) VALUES(?, ?)", e.message, leaf))
		}
	}
	return errors.Join(err, w.db.exec("INSERT INTO leaf(id, tree, newest, entries) VALUES(?, ?, ?, ?)", leaf, tree, newest, encodeLeaf(entries)))
}

// binaryID returns the bytes of an object id.
func binaryID(id string) ([]byte, error) {
	b, err := hex.DecodeString(id)
	if err == nil && len(b) < 8 {
		err = errors.New("too short")
	}
	return b, err
}
