package gitstore

import (
	"encoding/binary"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// encodeVersionCache returns the content of [derived.Workspaces]: for each commit its id; number and date; the number of its
// parents and their ids; and the subject, the operation, and the trailer of the call ("" if there is none).
func encodeVersionCache(versions []domarkx.Version) []byte {
	data := make([]byte, 0, len(versions)*256)
	for _, v := range versions {
		data = derived.AppendHex(data, v.ID)
		data = binary.AppendVarint(binary.AppendVarint(data, int64(v.Number)), v.Date)
		data = binary.AppendUvarint(data, uint64(len(v.Parents)))
		for _, parent := range v.Parents {
			data = derived.AppendHex(data, parent)
		}
		call := ""
		if v.Call != nil {
			call = codec.CallValue(v.Call).JSON()
		}
		for _, text := range []string{v.Subject, v.Operation, call} {
			data = derived.AppendText(data, text)
		}
	}
	return data
}

// decodeVersionCache returns nil if the content is invalid.
func decodeVersionCache(data string) map[string]domarkx.Version {
	cache := map[string]domarkx.Version{}
	d := derived.NewDecoder(data)
	for d.More() {
		v := domarkx.Version{ID: d.Hex(), Number: int(d.Varint()), Date: d.Varint()}
		v.Parents = make([]string, d.Count(1))
		for i := range v.Parents {
			v.Parents[i] = d.Hex()
		}
		v.Subject, v.Operation = d.Text(), d.Text()
		if call := d.Text(); call != "" {
			v.Call = codec.ParseCall(call)
		}
		cache[v.ID] = v
	}
	if d.Bad() {
		return nil
	}
	return cache
}
