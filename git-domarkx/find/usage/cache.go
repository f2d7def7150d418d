package usage

import (
	"encoding/binary"
	"math"

	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// The bits of the first byte of a row.
const (
	isCounted = 1 << iota
	isChat
	hasKey
	hasCost
)

// encodeCache returns the content of [derived.Usage], the rows of the newest snapshots of sessions, so that a later count only
// reads new messages. Entries are keyed by object ids. It consists of a table of strings and the sessions; the strings of
// sessions are indexes in the table.
func encodeCache(sessions []session) []byte {
	var body []byte
	var table []string
	at := map[string]uint64{}
	str := func(s string) {
		i, ok := at[s]
		if !ok {
			i = uint64(len(table))
			at[s], table = i, append(table, s)
		}
		body = binary.AppendUvarint(body, i)
	}
	for _, s := range sessions {
		body = derived.AppendHex(body, s.tip)
		str(s.agent)
		body = binary.AppendUvarint(binary.AppendVarint(body, s.first), uint64(len(s.rows)))
		for _, a := range s.rows {
			body = derived.AppendText(append(body, a.flags()), string(a.blob.Bytes()))
			body = append(body, a.id[:]...)
			body = binary.AppendVarint(body, a.date)
			if a.counted {
				str(a.model)
				str(a.branch)
				body = a.appendNumbers(body)
			}
		}
	}
	head := binary.AppendUvarint(nil, uint64(len(table)))
	for _, s := range table {
		head = derived.AppendText(head, s)
	}
	return append(head, body...)
}

// appendNumbers appends the part of a row after its strings.
func (r *row) appendNumbers(dst []byte) []byte {
	for _, n := range []int64{r.Input, r.CacheRead, r.CacheWrite, r.Output} {
		dst = binary.AppendVarint(dst, n)
	}
	if r.key != (key{}) {
		dst = append(dst, r.key[:]...)
	}
	if r.hasCost {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.cost))
	}
	return dst
}

func (r *row) flags() (flags byte) {
	if r.counted {
		flags |= isCounted
	}
	if r.chat {
		flags |= isChat
	}
	if r.key != (key{}) {
		flags |= hasKey
	}
	if r.hasCost {
		flags |= hasCost
	}
	return flags
}

// decodeCache returns the sessions in a cache, or nil if it is damaged.
func decodeCache(data string) []session {
	d := decoder{Decoder: derived.NewDecoder(data)}
	for n := d.Count(1); n > 0 && !d.Bad(); n-- {
		d.table = append(d.table, d.Text())
	}
	var sessions []session
	for d.More() {
		s := session{tip: d.Hex(), agent: d.str(), first: d.Varint()}
		const smallest = 1 + 1 + 16 + 1 // minimum size of a row in bytes
		s.rows = make([]answer, d.Count(smallest))
		for i := range s.rows {
			d.answer(&s.rows[i])
		}
		sessions = append(sessions, s)
	}
	if d.Bad() {
		return nil
	}
	return sessions
}

// A decoder reads rows.
type decoder struct {
	*derived.Decoder
	table []string
}

func (d *decoder) flags() byte {
	if b := d.Take(1); b != "" {
		return b[0]
	}
	return 0
}

func (d *decoder) answer(a *answer) {
	flags := d.flags()
	a.blob = oid.FromBytes([]byte(d.Text()))
	copy(a.id[:], d.Take(len(a.id)))
	a.date = d.Varint()
	if flags&isCounted == 0 {
		return
	}
	a.counted, a.chat = true, flags&isChat != 0
	a.model, a.branch = d.str(), d.str()
	d.numbers(&a.row, flags)
}

// numbers reads the part of a row after its strings.
func (d *decoder) numbers(r *row, flags byte) {
	r.Input, r.CacheRead, r.CacheWrite, r.Output = d.Varint(), d.Varint(), d.Varint(), d.Varint()
	if flags&hasKey != 0 {
		copy(r.key[:], d.Take(len(r.key)))
	}
	if r.hasCost = flags&hasCost != 0; r.hasCost {
		if b := d.Take(8); b != "" {
			r.cost = math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
		}
	}
}

// str returns a string of the table.
func (d *decoder) str() string {
	i := d.Uvarint()
	if i >= uint64(len(d.table)) {
		d.Fail()
		return ""
	}
	return d.table[i]
}
