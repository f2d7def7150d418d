package gitstore

import (
	"bytes"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// fileRecordHead is the beginning of a file record, and maxFileRecord its maximum size in bytes.
const (
	fileRecordHead = "domarkx-file 1\n"
	maxFileRecord  = 16 << 10
)

// maxReplaced is the maximum number of records that one can replace, so that it fits into maxFileRecord.
const maxReplaced = 128

// A fileRecord is an attachment that assigns a path to another attachment.
type fileRecord struct {
	path     string
	content  string   // SHA-256 of the attachment
	replaces []string // SHA-256 of earlier records of that path, ascending
}

func (f fileRecord) encode() []byte {
	b := []byte(fileRecordHead + "path " + escapeField(f.path) + "\ncontent " + f.content + "\n")
	for _, r := range f.replaces {
		b = append(b, "replaces "+r+"\n"...)
	}
	return b
}

// decodeFileRecord decodes a record. An attachment that does not have its canonical form is an
// ordinary attachment.
func decodeFileRecord(data []byte) (fileRecord, bool) {
	rest, ok := strings.CutPrefix(string(data), fileRecordHead)
	if !ok || len(data) > maxFileRecord {
		return fileRecord{}, false
	}
	var f fileRecord
	for line := range strings.Lines(rest) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "path":
			path, err := unescapeField(value)
			if err != nil {
				return fileRecord{}, false
			}
			f.path = path
		case "content":
			f.content = value
		case "replaces":
			f.replaces = append(f.replaces, value)
		}
	}
	for _, digest := range append([]string{f.content}, f.replaces...) {
		if !isSHA256(digest) {
			return fileRecord{}, false
		}
	}
	ascending := slices.IsSorted(f.replaces) && len(slices.Compact(slices.Clone(f.replaces))) == len(f.replaces)
	return f, ascending && len(f.replaces) <= maxReplaced && domarkx.CheckFilePath(f.path) == nil && bytes.Equal(f.encode(), data)
}
