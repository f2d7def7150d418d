package usage

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A Recorder writes the rows of messages to a file as they are stored, so that the first count after an import
// does not read the messages. Without the file it does. The file holds parts that are appended as a
// whole, by any number of processes; a part is its size and its CRC-32 (Castagnoli), each in four bytes, and rows. In a
// row the strings have their length before them.
type Recorder struct {
	Dir  string // an existing directory; otherwise nothing is written
	rows []byte
}

// The file of a recorder; it grows no more from maxRecorded on.
const (
	recorderName = "usage-new"
	maxRecorded  = 256 << 20
)

// usualPart is the size from which on a part is written.
const usualPart = 1 << 20

// Add adds a message of an assistant, with the id of its blob and its stored JSON.
func (r *Recorder) Add(id string, data []byte) {
	row := read(data)
	if n, err := hex.Decode(row.blob[:], []byte(id)); err != nil || n != len(row.blob) {
		return // of another hash function
	}
	r.rows = append(append(r.rows, row.flags()), row.blob[:]...)
	if row.counted {
		for _, s := range []string{row.model, row.branch} {
			r.rows = append(binary.AppendUvarint(r.rows, uint64(len(s))), s...)
		}
		r.rows = row.appendNumbers(r.rows)
	}
	if len(r.rows) >= usualPart {
		r.Stored()
	}
}

// Stored writes the rows. It ignores errors: the messages are read later then.
func (r *Recorder) Stored() {
	if len(r.rows) == 0 {
		return
	}
	part := binary.BigEndian.AppendUint32(nil, uint32(len(r.rows)))
	part = binary.BigEndian.AppendUint32(part, crc32.Checksum(r.rows, crc32.MakeTable(crc32.Castagnoli)))
	part = append(part, r.rows...)
	r.rows = r.rows[:0]
	f, err := os.OpenFile(filepath.Join(r.Dir, recorderName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < maxRecorded {
		_, _ = f.Write(part)
	}
}

// readRecorded returns the recorded rows by message, up to a damaged part.
func readRecorded(dir string) map[[20]byte]row {
	rows := map[[20]byte]row{}
	if dir == "" {
		return rows
	}
	data, err := os.ReadFile(filepath.Join(dir, recorderName))
	if err != nil {
		return rows
	}
	for len(data) >= 8 {
		size, sum := uint64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])
		if data = data[8:]; size > uint64(len(data)) || crc32.Checksum(data[:size], crc32.MakeTable(crc32.Castagnoli)) != sum {
			break
		}
		d := decoder{rest: data[:size]}
		for data = data[size:]; len(d.rest) > 0; {
			if r := d.recorded(); !d.bad {
				rows[r.blob] = r
			}
		}
	}
	return rows
}

// recorded reads a row of a recorder.
func (d *decoder) recorded() (r row) {
	flags := d.take(1)[0]
	copy(r.blob[:], d.take(len(r.blob)))
	if flags&isCounted != 0 {
		r.counted, r.chat = true, flags&isChat != 0
		r.model = string(d.take(d.length(1)))
		r.branch = string(d.take(d.length(1)))
		d.numbers(&r, flags)
	}
	return r
}

func removeRecorded(dir string) { _ = os.Remove(filepath.Join(dir, recorderName)) }
