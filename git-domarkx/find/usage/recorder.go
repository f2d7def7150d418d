package usage

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"os"
	"path/filepath"
)

// A Recorder appends the rows of messages to a file when they are stored, so that the first count
// after an import need not read the messages. The file is optional. It consists of parts, which any
// number of processes may append. A part is its size and its CRC-32 (Castagnoli), each in four
// bytes, and rows. Strings in rows are preceded by their length.
type Recorder struct {
	Dir  string // an existing directory; if it does not exist, nothing is written
	rows []byte
}

// The name of a recorder's file, and the size in bytes at which it no longer grows.
const (
	recorderName = "usage-new"
	maxRecorded  = 256 << 20
)

// usualPart is the size in bytes at which a part is written.
const usualPart = 1 << 20

// Add adds the row of an assistant's message, given the id of its blob and its stored JSON.
func (r *Recorder) Add(id string, data []byte) {
	row := read(data)
	if n, err := hex.Decode(row.blob[:], []byte(id)); err != nil || n != len(row.blob) {
		return // an id of another hash function
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

// Stored writes the rows that were added. It ignores errors, because the messages can be read
// later.
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

// knownRows holds rows by message.
type knownRows struct {
	rows []row
	at   map[[20]byte]int32 // blob → index in rows
}

func (k *knownRows) add(r *row) {
	k.at[r.blob] = int32(len(k.rows))
	k.rows = append(k.rows, *r)
}

func (k *knownRows) of(blob [20]byte) (row, bool) {
	i, ok := k.at[blob]
	if !ok {
		return row{}, false
	}
	return k.rows[i], true
}

// usualRow is the typical size of a recorded row in bytes.
const usualRow = 64

// readRecorded returns the recorded rows up to the first damaged part.
func readRecorded(dir string) *knownRows {
	k := &knownRows{at: map[[20]byte]int32{}}
	if dir == "" {
		return k
	}
	data, err := os.ReadFile(filepath.Join(dir, recorderName))
	if err != nil {
		return k
	}
	k.at, k.rows = make(map[[20]byte]int32, len(data)/usualRow), make([]row, 0, len(data)/usualRow)
	last := row{}
	for len(data) >= 8 {
		size, sum := uint64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])
		if data = data[8:]; size > uint64(len(data)) || crc32.Checksum(data[:size], crc32.MakeTable(crc32.Castagnoli)) != sum {
			break
		}
		d := decoder{rest: data[:size]}
		for data = data[size:]; len(d.rest) > 0; {
			if r := d.recorded(&last); !d.bad {
				k.add(&r)
			}
		}
	}
	return k
}

// recorded decodes a recorded row. It reuses the strings of the previous row, which are usually the
// same.
func (d *decoder) recorded(last *row) (r row) {
	flags := d.take(1)[0]
	copy(r.blob[:], d.take(len(r.blob)))
	if flags&isCounted != 0 {
		r.counted, r.chat = true, flags&isChat != 0
		for _, s := range []struct{ to, last *string }{{&r.model, &last.model}, {&r.branch, &last.branch}} {
			if b := d.take(d.length(1)); string(b) != *s.last {
				*s.last = string(b)
			}
			*s.to = *s.last
		}
		d.numbers(&r, flags)
	}
	return r
}

func removeRecorded(dir string) { _ = os.Remove(filepath.Join(dir, recorderName)) }
