package view

import (
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// HasOwnFields reports whether a header contains fields that belong to a single snapshot.
func HasOwnFields(h domarkx.Header) bool { return h.SnapshotID != "" || h.ImportTimestamp != "" }

// WithoutOwnFields returns a header entry without the fields that belong to a single snapshot. A
// preamble that the author wrote verbatim keeps its text.
func WithoutOwnFields(entry domarkx.HeaderEntry, h domarkx.Header) domarkx.HeaderEntry {
	h.SnapshotID, h.ImportTimestamp = "", ""
	entry.JSON = domarkx.Blob{Data: PrettyJSON(h.Value())}
	if !entry.Layout.Verbatim {
		entry.Layout, entry.Source = markdown.WriteHeader(h).Layout, domarkx.Blob{}
	}
	return entry
}
