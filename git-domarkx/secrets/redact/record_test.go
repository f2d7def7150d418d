package redact_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/gitstore/codec"
)

// TestSameRecord: a record of a redacted file replaces what the record in its place replaces, and no
// other record.
func TestSameRecord(t *testing.T) {
	digest := func(name string) string {
		sum := sha256.Sum256([]byte(name))
		return hex.EncodeToString(sum[:])
	}
	digests := map[string]string{digest("content"): digest("redacted content"), digest("record 1"): digest("redacted record 1"), digest("record 2"): digest("redacted record 2")}
	record := func(path, content string, replaces ...string) codec.FileRecord {
		r := codec.FileRecord{Path: path, Content: digest(content)}
		for _, name := range replaces {
			r.Replaces = append(r.Replaces, digest(name))
		}
		return r
	}
	ours := record("notes.txt", "content", "record 1")
	for name, test := range map[string]struct {
		theirs codec.FileRecord
		want   bool
	}{
		"the redacted one":         {record("notes.txt", "redacted content", "redacted record 1"), true},
		"another path":             {record("other.txt", "redacted content", "redacted record 1"), false},
		"another content":          {record("notes.txt", "content", "redacted record 1"), false},
		"replaces another record":  {record("notes.txt", "redacted content", "redacted record 2"), false},
		"replaces a former record": {record("notes.txt", "redacted content", "record 1"), false},
		"replaces an unknown one":  {record("notes.txt", "redacted content", "record 3"), false},
		"replaces none":            {record("notes.txt", "redacted content"), false},
	} {
		if got := redact.SameRecord(scanner(), digests, ours, test.theirs); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
