package redact

import (
	"io"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// A Table is a table, for tests.
type Table = table

// NewTable returns an empty table.
func NewTable(scan *secrets.Scanner) *Table { return newTable(scan, nil) }

// Note adds the secrets in a text.
func (t *table) Note(text []byte, isJSON bool) { t.note(text, isJSON) }

// Redact is redact.
func (t *table) Redact(text []byte, isJSON bool) ([]byte, bool) { return t.redact(text, isJSON) }

// Stream is stream.
func (t *table) Stream(data []byte) ([]byte, bool) { return t.stream(data) }

// Join is join for texts.
func Join(ours, theirs *Table, a, b string) (string, bool) {
	text, _, ok := join(ours, theirs, []byte(a), []byte(b), false)
	return string(text), ok
}

// Aligned is aligned for texts.
func Aligned(a, b string) map[string]string {
	all := map[string]string{}
	for _, l := range aligned([]byte(a), []byte(b)) {
		all[l.placeholder] = l.raw
	}
	return all
}

// SameRecord reports whether a record of theirs is a redaction of ours, where digests are those of our
// attachments and of theirs in their place.
func SameRecord(scan *secrets.Scanner, digests map[string]string, ours, theirs codec.FileRecord) bool {
	m := attachmentMatch{reconciler: &reconciler{ours: newTable(scan, nil), theirs: newTable(scan, nil), digests: digests}}
	same, err := m.isRecord(ours.Encode(), theirs.Encode())
	return same && err == nil
}

// Line is line.
func (t *table) Line(text string) string { return t.line(text) }

// Mask is mask.
func (t *table) Mask(path string, data []byte) error { return t.mask(path, data) }

// Spellings is spellings.
func Spellings(raw string) []string { return spellings(raw) }

// Parts returns the parts of a text in which it is redacted, of at most size bytes.
func Parts(text string, size int) (all []string, err error) {
	err = partsOf(io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), size, func(part []byte) error {
		all = append(all, string(part))
		return nil
	})
	return all, err
}
