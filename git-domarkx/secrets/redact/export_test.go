package redact

import (
	"io"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// Stream is stream.
func Stream(t *placeholder.Table, data []byte) ([]byte, bool) { return stream(t, data) }

// Mask is mask.
func Mask(t *placeholder.Table, path string, data []byte) error { return mask(t, path, data) }

// SameRecord reports whether a record of theirs is a redaction of ours, where digests are those of our
// attachments and of theirs in their place.
func SameRecord(scan *secrets.Scanner, digests map[string]string, ours, theirs codec.FileRecord) bool {
	m := attachmentMatch{reconciler: &reconciler{ours: placeholder.New(scan, nil), theirs: placeholder.New(scan, nil), digests: digests}}
	return m.isRecord(ours.Encode(), theirs.Encode())
}

// Parts returns the parts of a text in which it is redacted, of at most size bytes.
func Parts(text string, size int) (all []string, err error) {
	err = partsOf(io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), size, func(part []byte) error {
		all = append(all, string(part))
		return nil
	})
	return all, err
}
