package view

import (
	"github.com/domarkx/domarkx"
)

// PrettyJSON returns the only form in which JSON is stored.
func PrettyJSON(v domarkx.Value) []byte { return AppendPretty(nil, v) }

// AppendPretty appends what PrettyJSON returns.
func AppendPretty(dst []byte, v domarkx.Value) []byte {
	return append(v.AppendJSON(dst, "", "  "), '\n')
}

// NotNil returns data, or an empty slice if data is nil, for contents that exist but are empty.
func NotNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// NormalHeader encodes a header without the fields that belong to a single snapshot.
func NormalHeader(h domarkx.Header) []byte {
	h.SnapshotID, h.ImportTimestamp = "", ""
	return PrettyJSON(h.Value())
}
