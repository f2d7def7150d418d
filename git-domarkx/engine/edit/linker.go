package edit

import "github.com/domarkx/domarkx"

// A Linker links messages to the workspace version that contains the files that they name.
type Linker struct {
	Version string
	Wants   func(m domarkx.Message) bool
}

// link returns the version to link a message to, or "" for none. A nil linker returns "".
func (l *Linker) link(m domarkx.Message) string {
	if l == nil || !l.Wants(m) {
		return ""
	}
	return l.Version
}

// LinksMore reports whether messages of an unchanged document name files that only the new
// version of its home contains.
func (l *Linker) LinksMore(live domarkx.Entries, doc *domarkx.Document) bool {
	if l == nil {
		return false
	}
	for i := range live.Len() {
		if live.At(i).Link == "" && l.Wants(doc.Conversation[i].Message) {
			return true
		}
	}
	return false
}
