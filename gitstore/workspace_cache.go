package gitstore

import (
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// encodeVersionCache returns the content of [derived.Workspaces]: for each commit its id (20 bytes); number and date; and the ids
// of the parents (40 digits each), the subject, the operation, and the trailer of the call ("" if there is none).
func encodeVersionCache(versions []domarkx.Version) []byte {
	data := make([]byte, 0, len(versions)*256)
	for _, v := range versions {
		data, _ = hex.AppendDecode(data, []byte(v.ID)) // an id is always valid
		data = binary.AppendVarint(binary.AppendVarint(data, int64(v.Number)), v.Date)
		call := ""
		if v.Call != nil {
			call = codec.CallValue(v.Call).JSON()
		}
		for _, text := range []string{strings.Join(v.Parents, ""), v.Subject, v.Operation, call} {
			data = derived.AppendText(data, text)
		}
	}
	return data
}

// decodeVersionCache returns nil if the content is invalid.
func decodeVersionCache(data []byte) map[string]domarkx.Version {
	cache := map[string]domarkx.Version{}
	d := derived.NewDecoder(data)
	for d.More() {
		v := domarkx.Version{ID: hex.EncodeToString([]byte(d.Take(20))), Number: int(d.Varint()), Date: d.Varint()}
		parents := d.Text()
		v.Parents = make([]string, 0, len(parents)/40)
		for ; len(parents) >= 40; parents = parents[40:] {
			v.Parents = append(v.Parents, parents[:40])
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
