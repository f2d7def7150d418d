package codec

import (
	"bytes"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// FileRecordHead is the beginning of a file record, and MaxFileRecord its maximum size in bytes.
const (
	FileRecordHead = "domarkx-file 1\n"
	MaxFileRecord  = 16 << 10
)

// MaxReplaced is the maximum number of records that one can replace, so that it fits into MaxFileRecord.
const MaxReplaced = 128

// A FileRecord is an attachment that assigns a path to another attachment.
type FileRecord struct {
	Path     string
	Content  string   // SHA-256 of the attachment
	Replaces []string // SHA-256 of earlier records of that path, ascending
}

// Encode returns the content of the attachment.
func (f FileRecord) Encode() []byte {
	b := []byte(FileRecordHead + "path " + EscapeField(f.Path) + "\ncontent " + f.Content + "\n")
	for _, r := range f.Replaces {
		b = append(b, "replaces "+r+"\n"...)
	}
	return b
}

// DecodeFileRecord decodes a record. An attachment that does not have its canonical form is an
// ordinary attachment.
func DecodeFileRecord(data []byte) (FileRecord, bool) {
	rest, ok := strings.CutPrefix(string(data), FileRecordHead)
	if !ok || len(data) > MaxFileRecord {
		return FileRecord{}, false
	}
	var f FileRecord
	for line := range strings.Lines(rest) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "path":
			path, err := UnescapeField(value)
			if err != nil {
				return FileRecord{}, false
			}
			f.Path = path
		case "content":
			f.Content = value
		case "replaces":
			f.Replaces = append(f.Replaces, value)
		}
	}
	for _, digest := range append([]string{f.Content}, f.Replaces...) {
		if !IsSHA256(digest) {
			return FileRecord{}, false
		}
	}
	ascending := slices.IsSorted(f.Replaces) && len(slices.Compact(slices.Clone(f.Replaces))) == len(f.Replaces)
	return f, ascending && len(f.Replaces) <= MaxReplaced && domarkx.CheckFilePath(f.Path) == nil && bytes.Equal(f.Encode(), data)
}
