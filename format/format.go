// Package format defines what a codec is: how the bytes of a format become a
// [domarkx.Document], and how a document becomes bytes. Each format has a package of
// its own below; format/all lists them.
package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// HeadSize is how many bytes from the start of a file [Codec.Detect] wants to
// see; fewer are enough when the file is shorter.
const HeadSize = 64 << 10

// A Codec reads and writes one format. The fields up to Encode are always set; the others are nil
// if the format does not support the operation.
type Codec struct {
	// Name is what users call the format ("md").
	Name string
	// Extensions are the file extensions, with the dot, in lower case; the first is the usual one.
	Extensions []string
	// Detect reports whether a file has this format, given its beginning and its name, which may be
	// "". The content decides.
	Detect func(head []byte, name string) bool
	// Decode reads a whole document. An unreadable one is a [*domarkx.SyntaxError] with Source.Path;
	// errors that were worked around are listed in the document's Damage, in the same form.
	Decode func(src Source) (*domarkx.Document, error)
	// Encode writes a whole document: the same one for the same document and target.
	Encode func(doc *domarkx.Document, to Target) ([]byte, error)

	// Identify returns which session a document of that header is a save of, by what
	// the document itself says. Without it, or without an answer, it is the session
	// of its file.
	Identify func(h domarkx.Header) Identity
	// Fork returns the header for a session that branches off the one with header h, and false if
	// the format's program has no such sessions.
	Fork func(h domarkx.Header, f Fork) (domarkx.Header, bool)
	// SavedAt returns when a document was saved, and whether data (the document or its beginning) or
	// the file's name says so. Saves of one session are imported in that order.
	SavedAt func(data []byte, name string) (Saving, bool)
	// Place returns the path at which the format's program keeps a document. Attempts count from 0;
	// each returns another path.
	Place func(f File, attempt int) (Place, error)
	// Open reads a document that may be larger than memory or hold several conversations; the first
	// is the one that Decode returns. The streams are valid until the loop ends. An unreadable
	// document is an error as in Decode, after which nothing follows.
	Open func(f File) iter.Seq2[Stream, error]
	// Write, if not nil, is Encode for messages that may not fit in memory. It reports losses, and
	// returns a function that writes the document and may be called repeatedly.
	Write func(h domarkx.Header, messages Messages, to Target) (func(w io.Writer) error, error)
	// IsPart reports whether a session of that header is only a part of the document that
	// it was imported from, so that this is not given back for it.
	IsPart func(h domarkx.Header) bool
	// Grow reads the data appended to a document, and reports whether it only continues the
	// document's own conversation. If not, the document must be read again.
	Grow func(g Growth) (Grown, bool, error)
	// Images reports that messages may show images as data URLs, each on a line of its own, which an
	// import keeps as files.
	Images bool
	// NamedFiles, if not nil, are files beside the document. Formats with Open have none.
	NamedFiles *NamedFiles
	// Homes, if not nil, are the directories that contain such documents.
	Homes *Homes
}

// NamedFiles are files that messages of a document name. They exist only on the machine where the
// document was written, and are imported with it.
type NamedFiles struct {
	// Of returns the path of a message's file; "" for none.
	Of func(m domarkx.Message) string
	// Is reports whether a file that begins with head, at most [HeadSize] bytes, is one that a
	// message may name. A document can name any file on the machine; no other file is read further.
	Is func(head []byte) bool
	// Digest returns the SHA-256 of the file that was kept with a message, in
	// hexadecimal; "" for none.
	Digest func(m domarkx.Message) string
	// WithDigest returns the message with that digest. It does not show in what Encode
	// writes.
	WithDigest func(m domarkx.Message, sha256 string) domarkx.Message
}

// An Identity identifies the session that a document was saved from.
type Identity struct {
	ID   string // the same in all saves of one session and no others; "" if unknown
	Name string // the session's name before mapping; "" for the file's name

	// Parent is the ID of the session that started this one; "" for none. The name is then that
	// session's with Suffix, if it is known.
	Parent string
	Suffix string

	// SessionID, CreatedAt and UpdatedAt are what lists of the format show, as the
	// document spells them; "" when unknown.
	SessionID string
	CreatedAt string
	UpdatedAt string
	// Saved is UpdatedAt in milliseconds since 1970; 0 when unknown.
	Saved int64
}

// A Fork is what becomes of a session that is forked.
type Fork struct {
	UUID string    // unique to this session
	At   time.Time // when it is forked
	Cut  bool      // it ends before the session that it is forked from
}

// A Saving is when a document was saved.
type Saving struct {
	At    int64  // milliseconds since 1970
	Group string // equal for all saves of a session, if the file's name says; otherwise ""
}

// A Place is where a program keeps a document.
type Place struct {
	Path string // below the directory of its documents; relative, slash-separated, clean
	Team string // that the document belongs to
	ID   string // see [Identity]
}

// A NewSession holds the properties of a program's new session.
type NewSession struct {
	ID      string // a UUID
	WorkDir string // absolute path of the directory in which the program is started
	// Model is the model that the program will ask, for formats that have to name one, as the program
	// spells it; "" if unknown.
	Model string
}

// A Target holds the options for encoding a document. The zero Target is valid.
type Target struct {
	Session string // the name of the session
	Team    string // the team of a document without one; "" for the format's default
	// Losses, if not nil, collects what the format cannot represent.
	Losses *Losses
	// New, if not nil, asks for a new session of the format's program. Formats without sessions of
	// their own ignore it.
	New *NewSession
	// File, if not nil, returns the content of a file that the session keeps under a path.
	File func(path string) ([]byte, error)
	// Original, when not nil, calls read with the document that the session was imported
	// from, if there is one.
	Original func(read func(File) error) error
}

// Lose records something of the session that the format cannot represent.
func (t Target) Lose(form string, args ...any) { t.LoseOf(-1, form, args...) }

// LoseOf records something of a message that the format cannot represent.
func (t Target) LoseOf(message int, form string, args ...any) {
	if t.Losses != nil {
		t.Losses.Add(message, fmt.Sprintf(form, args...))
	}
}

// ForgetLosses clears the recorded losses, for another attempt.
func (t Target) ForgetLosses() {
	if t.Losses != nil {
		*t.Losses = Losses{}
	}
}

// A Source is a document to decode.
type Source struct {
	Path string // as the user named it, for messages; may be ""
	Data []byte // the decoded document shares it; the caller must not change it afterwards

	// Include returns the content of an included file. Its path is relative to the document's
	// directory, slash-separated, clean, and lexically inside the directory. Include must itself
	// refuse symbolic links that lead out of it. It is nil if the document cannot include files.
	Include func(path string) ([]byte, error)
}

// Detect returns the codec that recognises a file by its content, given its first [HeadSize] bytes
// and its name, and whether one was found.
func Detect(codecs []Codec, head []byte, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Detect(head, name) {
			return c, true
		}
	}
	return Codec{}, false
}

// Pick returns the codec for a file that the user named: the one that recognises its content, or
// the one with its extension.
func Pick(codecs []Codec, head []byte, name string) (Codec, bool) {
	if c, ok := Detect(codecs, head, name); ok {
		return c, true
	}
	ext := strings.ToLower(path.Ext(name))
	for _, c := range codecs {
		for _, e := range c.Extensions {
			if e == ext {
				return c, true
			}
		}
	}
	return Codec{}, false
}

// ByName returns the codec with that name, and whether it was found.
func ByName(codecs []Codec, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Name == name {
			return c, true
		}
	}
	return Codec{}, false
}

// Names returns the member names in the beginning of a JSON document, in order, each with the
// number of enclosing objects and arrays, which is 1 for members of the document's own object. It
// ends at the end of head or of the document, and is empty if the document is not an object.
// Escapes in names are not decoded.
func Names(head []byte) iter.Seq2[int, string] {
	return func(yield func(depth int, name string) bool) {
		head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
		if len(head) == 0 || head[0] != '{' {
			return
		}
		depth := 0
		for i := 0; i < len(head); i++ {
			switch head[i] {
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return
				}
			case '"':
				start := i + 1
				n := stringEnd(head[start:])
				if n < 0 {
					return
				}
				i = start + n
				rest := bytes.TrimLeft(head[i+1:min(len(head), i+64)], " \t\r\n")
				if len(rest) > 0 && rest[0] == ':' && !yield(depth, string(head[start:i])) {
					return
				}
			}
		}
	}
}

// stringEnd returns the index of the quote that ends a JSON string whose rest is s, or -1.
func stringEnd(s []byte) int {
	for end := 0; ; end++ {
		n := bytes.IndexByte(s[end:], '"')
		if n < 0 {
			return -1
		}
		end += n
		first := end
		for first > 0 && s[first-1] == '\\' {
			first--
		}
		if (end-first)%2 == 0 { // the quote is not escaped
			return end
		}
	}
}

// A Growth is the data appended to a document.
type Growth struct {
	Path   string
	Data   []byte         // after the first Stream.Read bytes; shared as in [Source]
	State  string         // of the rest
	Header domarkx.Header // of the session
}

// A Grown is the addition to a session from a Growth.
type Grown struct {
	Messages []domarkx.WrittenMessage // appended to the session's messages
	Header   domarkx.Header           // instead of the one that it had
	Damage   []*domarkx.SyntaxError
	State    string // as in [Stream]
	Read     int64  // bytes of Data that will stay as they are
}
