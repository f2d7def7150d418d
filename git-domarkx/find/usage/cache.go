package usage

import (
	"encoding/binary"
	"math"

	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// encodeCache returns the content of [derived.Usage], the rows of the newest snapshots of sessions, so that a later count only
// reads new messages. Entries are keyed by object ids.
func encodeCache(sessions []session) []byte {
	var data []byte
	for _, s := range sessions {
		data = derived.AppendText(derived.AppendHex(data, s.tip), s.agent)
		data = binary.AppendUvarint(binary.AppendVarint(data, s.first), uint64(len(s.rows)))
		for _, a := range s.rows {
			data = derived.AppendText(append(data, byte(a.by)), string(a.blob.Bytes()))
			data = binary.AppendVarint(append(data, a.id[:]...), a.date)
			if a.by == nobody {
				continue
			}
			data = derived.AppendText(derived.AppendText(data, a.model), a.branch)
			for _, n := range []int64{a.Input, a.CacheRead, a.CacheWrite, a.Output} {
				data = binary.AppendVarint(data, n)
			}
			data = append(data, a.key[:]...)
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(a.cost))
		}
	}
	return data
}

// decodeCache returns the sessions in a cache, or nil if it is damaged.
func decodeCache(data string) []session {
	var sessions []session
	d := derived.NewDecoder(data)
	for d.More() {
		s := session{tip: d.Hex(), agent: d.Text(), first: d.Varint()}
		const smallest = 1 + 1 + 16 + 1 // minimum size of a row in bytes
		s.rows = make([]answer, d.Count(smallest))
		for i := range s.rows {
			decodeAnswer(d, &s.rows[i])
		}
		sessions = append(sessions, s)
	}
	if d.Bad() {
		return nil
	}
	return sessions
}

func decodeAnswer(d *derived.Decoder, a *answer) {
	if by := d.Take(1); by != "" {
		a.by = requester(by[0])
	}
	a.blob = oid.FromBytes([]byte(d.Text()))
	copy(a.id[:], d.Take(len(a.id)))
	a.date = d.Varint()
	if a.by == nobody {
		return
	}
	a.model, a.branch = d.Text(), d.Text()
	a.Input, a.CacheRead, a.CacheWrite, a.Output = d.Varint(), d.Varint(), d.Varint(), d.Varint()
	copy(a.key[:], d.Take(len(a.key)))
	var cost [8]byte
	copy(cost[:], d.Take(len(cost)))
	a.cost = math.Float64frombits(binary.LittleEndian.Uint64(cost[:]))
}
