package domarkx

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An Attachment is content that a snapshot stores beside its messages, addressed by its SHA-256. It
// is the content of an [AttachedFile], or the complete output of a tool if a message contains only
// its beginning.
type Attachment struct {
	SHA256 string // of the content, 64 lower-case hexadecimal digits
	Blob   Blob   // already stored
}

// An AttachedFile is an attachment that a session stores under a path, such as an image that its
// document shows. The path is in a record that is an attachment itself, because every program that
// reads format 1 keeps all attachments through appends, edits and merges. A directory for files
// would have required format 2.
type AttachedFile struct {
	Path   string // relative to the document's directory; see [CheckFilePath]
	SHA256 string // of the content, 64 lower-case hexadecimal digits
	Size   int64  // of the content, in bytes
}

// Limits of an attached file's path, in bytes.
const (
	maxFilePath = 1024
	maxFileName = 255
)

// CheckFilePath returns an [ErrInvalid] with the reason if a session cannot store a file under path
// p. A valid path is relative, slash-separated and clean, stays inside the document's directory,
// contains no hidden name, and means the same file on every system.
func CheckFilePath(p string) error {
	why := ""
	switch {
	case p == "" || len(p) > maxFilePath:
		why = fmt.Sprintf("expected 1 to %d bytes", maxFilePath)
	case !utf8.ValidString(p):
		why = "it is not valid UTF-8"
	case strings.HasPrefix(p, "/"):
		why = "it is absolute"
	case p == ".." || strings.HasPrefix(p, "../"):
		why = "it leads outside of the document's directory"
	case path.Clean(p) != p || p == ".":
		why = `it has a redundant "/", "." or ".."`
	case strings.Contains(p, `\`):
		why = `it contains a "\"`
	case strings.ContainsFunc(p, unicode.IsControl):
		why = "it contains a control character"
	}
	for name := range strings.SplitSeq(p, "/") {
		switch {
		case why != "":
		case strings.HasPrefix(name, "."):
			why = `a name in it begins with "."`
		case len(name) > maxFileName:
			why = fmt.Sprintf("expected names of at most %d bytes", maxFileName)
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrInvalid, why)
}
