package search

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// blobKey returns the number by which a message is looked up: half of the id of its blob. If two blobs have the same
// number, the second one gets the next free number.
func blobKey(blob []byte) int64 { return int64(binary.BigEndian.Uint64(blob) >> 1) }

// addedBlobs are the blobs of successive messages that are not in the table blob yet.
type addedBlobs struct {
	next     int64           // number of the next message
	ids      []byte          // of the blobs, one after the other
	messages map[int64]int64 // by key
}

// find returns the number of a message, or 0 and the key that it would get.
func (a *addedBlobs) find(blob []byte) (message, key int64) {
	first := a.next - int64(len(a.ids)/len(blob))
	for key = blobKey(blob); ; key++ {
		message, ok := a.messages[key]
		if !ok {
			return 0, key
		}
		if at := int(message-first) * len(blob); string(a.ids[at:at+len(blob)]) == string(blob) {
			return message, key
		}
	}
}

// add adds the blob of the next message, which is not among the others.
func (a *addedBlobs) add(blob []byte) {
	if a.messages == nil {
		a.messages = map[int64]int64{}
	}
	_, key := a.find(blob)
	a.messages[key] = a.next
	a.ids = append(a.ids, blob...)
	a.next++
}

func (a *addedBlobs) reset() {
	clear(a.messages)
	a.ids = a.ids[:0]
}

// A blobFilter reports for most blobs that were not added that they were not, by a bit for each hash. It saves looking for new
// messages in the table: of a million messages, a sixteenth is looked for.
type blobFilter [1 << 24 / 8]byte

// bit returns the place of the bit of a blob.
func (*blobFilter) bit(blob []byte) (at uint32, mask byte) {
	n := binary.BigEndian.Uint32(blob)
	return n >> 11, 1 << (n >> 8 & 7)
}

func (f *blobFilter) add(blob []byte) {
	at, mask := f.bit(blob)
	f[at] |= mask
}

func (f *blobFilter) mayHave(blob []byte) bool {
	at, mask := f.bit(blob)
	return f[at]&mask != 0
}

// find returns the number of a message in the index, or 0 if the index does not contain it.
func (w *writer) find(blob []byte) (message int64, err error) {
	if w.filter != nil && !w.filter.mayHave(blob) {
		return 0, nil
	}
	if message, _ := w.added.find(blob); message != 0 || !w.hadBlobs {
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
	if len(w.added.messages) == 0 {
		return nil
	}
	type row struct{ key, message int64 }
	rows := make([]row, 0, len(w.added.messages))
	for key, message := range w.added.messages {
		rows = append(rows, row{key, message})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	for _, r := range rows {
		err := w.db.exec("INSERT OR IGNORE INTO blob(key, message) VALUES(?, ?)", r.key, r.message)
		if err == nil && w.db.conn.Changes() == 0 {
			err = w.addBlob(r.key, r.message)
		}
		if err != nil {
			return err
		}
	}
	w.hadBlobs = true
	w.added.reset()
	return nil
}

// addBlob writes a blob unless it is in the table, under the first key that no other blob has.
func (w *writer) addBlob(key, message int64) error {
	for ; ; key++ {
		other, err := w.db.number("SELECT message FROM blob WHERE key = ?", key)
		if err != nil || other == message {
			return err
		}
		if other == 0 {
			return w.db.exec("INSERT INTO blob(key, message) VALUES(?, ?)", key, message)
		}
	}
}
