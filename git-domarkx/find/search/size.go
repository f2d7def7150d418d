package search

import (
	"fmt"
	"math/bits"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// sizesPerRow is the number of messages whose sizes are in one row of the table size. Ranking needs the sizes of many
// messages, and so reads many together.
const sizesPerRow = 4096

// sizeCode encodes the size of a message in one byte, with eight steps for each doubling. 0 stands for no message.
func sizeCode(size int) byte {
	n := uint(size) + 1
	exponent := bits.Len(n) - 1
	return byte(min(1+8*exponent+int(n<<3>>exponent&7), 255))
}

// codedSize is the inverse of sizeCode: it returns about the size that was encoded.
func codedSize(code byte) float64 {
	if code == 0 {
		return 0
	}
	n := int(code) - 1
	return float64(8+n%8)/8*float64(uint64(1)<<(n/8)) - 1
}

// A sizeWriter stores the sizes of new messages.
type sizeWriter struct {
	db    *database
	row   int64
	codes []byte
	dirty bool
}

// open prepares to add sizes after that of the last message.
func (w *sizeWriter) open(db *database, last int64) error {
	w.db, w.row = db, last/sizesPerRow
	err := db.query("SELECT codes FROM size WHERE row = ?", func(s *sqlite3.Stmt) error {
		w.codes = s.AppendBytes(w.codes[:0], 0)
		return nil
	}, w.row)
	w.codes = w.codes[:min(len(w.codes), int(last%sizesPerRow)+1)]
	return err
}

// add adds the size of a message. Messages must be added in ascending order.
func (w *sizeWriter) add(message int64, size int) error {
	row := message / sizesPerRow
	for ; w.row < row; w.row++ {
		w.codes, w.dirty = append(w.codes, make([]byte, sizesPerRow-len(w.codes))...), true
		if err := w.flush(); err != nil {
			return err
		}
		w.codes = w.codes[:0]
	}
	for int64(len(w.codes)) < message%sizesPerRow {
		w.codes = append(w.codes, 0)
	}
	w.codes, w.dirty = append(w.codes, sizeCode(size)), true
	return nil
}

func (w *sizeWriter) flush() error {
	if !w.dirty {
		return nil
	}
	w.dirty = false
	return w.db.exec("INSERT OR REPLACE INTO size(row, codes) VALUES(?, ?)", w.row, w.codes)
}

// sizes returns the size codes of all messages, by their numbers.
func (d *database) sizes() (codes []byte, err error) {
	err = d.query("SELECT row, codes FROM size ORDER BY row", func(s *sqlite3.Stmt) error {
		if s.Int(0)*sizesPerRow != int64(len(codes)) {
			return fmt.Errorf("%w: sizes of messages are missing", errBlock)
		}
		codes = s.AppendBytes(codes, 1)
		return nil
	})
	return codes, err
}
