// Package format is the shape that all codecs share: how bytes become a
// [domarkx.Document] and a document becomes bytes. Each format has a package of
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

// A Codec reads and writes one format. Its fields up to Encode are set; the others
// are nil in formats that know nothing of the kind.
type Codec struct {
	// Name is what users call the format ("md").
	Name string
	// Extensions are those of its files, with the dot, in lower case; the first is
	// the usual one.
	Extensions []string
	// Detect reports whether a file that begins with head and is called name is of
	// this format. It goes by the content; name may be "".
	Detect func(head []byte, name string) bool
	// Decode reads a whole document. What makes it unreadable is a
	// [*domarkx.SyntaxError] that carries Source.Path; what was worked around stands
	// in the document's Damage, in the same form.
	Decode func(src Source) (*domarkx.Document, error)
	// Encode writes a whole document: the same one for the same document and target.
	Encode func(doc *domarkx.Document, to Target) ([]byte, error)

	// Identify returns which session a document of that header is a save of, by what
	// the document itself says. Without it, or without an answer, it is the session
	// of its file.
	Identify func(h domarkx.Header) Identity
	// Fork returns the header of a session that begins as the one of that header and goes on by
	// itself, and false for a session that the format's program does not have.
	Fork func(h domarkx.Header, f Fork) (domarkx.Header, bool)
	// SavedAt returns when a document was saved, and whether data, the document or its
	// beginning, or its file's name tell. Saves of one session are imported in that
	// order.
	SavedAt func(data []byte, name string) (Saving, bool)
	// Place returns where the program that the format belongs to keeps a document. Attempts
	// count from 0; each gives another path.
	Place func(f File, attempt int) (Place, error)
	// Open reads a document that may be larger than memory or hold several conversations,
	// first the one that Decode returns. It is done with when the loop over it ends. What
	// makes it unreadable is as for Decode, and nothing comes behind it.
	Open func(f File) iter.Seq2[Stream, error]
	// Write, when not nil, is Encode for messages that may be more than memory holds. It tells
	// what is lost, and returns what writes the document, as often as it is wanted.
	Write func(h domarkx.Header, messages Messages, to Target) (func(w io.Writer) error, error)
	// IsPart reports whether a session of that header is only a part of the document that
	// it was imported from, so that this is not given back for it.
	IsPart func(h domarkx.Header) bool
	// Grow reads what was added to the end of a document, and reports whether it only
	// continues its own conversation; if not, the document has to be read anew.
	Grow func(g Growth) (Grown, bool, error)
	// Companions, when not nil, are files beside the document. Formats with Open have none.
	Companions *Companions
	// Homes, when not nil, are the folders in which such documents are kept.
	Homes *Homes
}

// Companions are files of the machine that a document was written on, which its
// messages name and which mean nothing elsewhere unless they go along.
type Companions struct {
	// Of returns the path of a message's file; "" for none.
	Of func(m domarkx.Message) string
	// Is reports whether a file that begins with head, at most [HeadSize] bytes, is what
	// such a message may name. A document may name any file there is; none but these is
	// read on.
	Is func(head []byte) bool
	// Digest returns the SHA-256 of the file that was kept with a message, in
	// hexadecimal; "" for none.
	Digest func(m domarkx.Message) string
	// WithDigest returns the message with that digest. It does not show in what Encode
	// writes.
	WithDigest func(m domarkx.Message, sha256 string) domarkx.Message
}

// An Identity is what a document says of the session that it is a save of.
type Identity struct {
	ID   string // the same in all saves of one session and no others; "" when unknown
	Name string // what the session is to be called, not mapped yet; "" for the file's name

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
	UUID string    // what no other session has
	At   time.Time // when it is forked
	Cut  bool      // it ends before the session that it is forked from
}

// A Saving is when a document was saved.
type Saving struct {
	At    int64  // milliseconds since 1970
	Group string // equal for all saves of a session, if the file's name tells; else ""
}

// A Place is where a program keeps a document.
type Place struct {
	Path string // below the folder of its documents; relative, slash-separated, clean
	Team string // that the document belongs to
	ID   string // see [Identity]
}

// A Target says what a document is encoded for. The zero Target will do.
type Target struct {
	Session string // the name of the session
	Team    string // what a document without a team is to belong to; "" for the format's default
	// Losses, when not nil, get what the format cannot hold.
	Losses *Losses
}

// Lose tells that the format cannot hold something of a session.
func (t Target) Lose(form string, args ...any) { t.LoseOf(-1, form, args...) }

// LoseOf tells that the format cannot hold something of a message.
func (t Target) LoseOf(message int, form string, args ...any) {
	if t.Losses != nil {
		t.Losses.Add(message, fmt.Sprintf(form, args...))
	}
}

// ForgetLosses forgets what was told of, for who begins anew.
func (t Target) ForgetLosses() {
	if t.Losses != nil {
		*t.Losses = Losses{}
	}
}

// A Source is a document to decode.
type Source struct {
	Path string // as the user named it, for messages; may be ""
	Data []byte // the decoded document shares it; the caller must not change it afterwards

	// Include returns the content of a file that the document includes. Its path is
	// relative to the document's folder, slash-separated, clean, and lexically
	// inside; that no symbolic link leads out of the folder is for Include to see
	// to. Nil when nothing can be included.
	Include func(path string) ([]byte, error)
}

// Detect returns the codec that recognises a file by its content, given its
// first [HeadSize] bytes and its name, and whether there is one.
func Detect(codecs []Codec, head []byte, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Detect(head, name) {
			return c, true
		}
	}
	return Codec{}, false
}

// Pick returns the codec for a file that somebody named: the one that recognises
// its content, else the one whose extension it has.
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

// ByName returns the codec of that name, and whether there is one.
func ByName(codecs []Codec, name string) (Codec, bool) {
	for _, c := range codecs {
		if c.Name == name {
			return c, true
		}
	}
	return Codec{}, false
}

// Names returns the names of the members in the beginning of a JSON document, in
// order, each with the number of objects and arrays around it: 1 for those of the
// document's own object. It ends where the document or its beginning does, and is
// empty when that is no object. Escapes in names are left as they are.
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

// stringEnd returns where the quote is that ends a JSON string, which s is the rest of; -1
// when there is none.
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
		if (end-first)%2 == 0 { // no backslash is before it but those that escape each other
			return end
		}
	}
}

// A Growth is what a document grew by.
type Growth struct {
	Path   string
	Data   []byte         // behind the bytes that were read for good; shared as in [Source]
	State  string         // of the rest
	Header domarkx.Header // of the session
}

// A Grown is what a session grows by.
type Grown struct {
	Messages []domarkx.WrittenMessage // behind those that it has
	Header   domarkx.Header           // instead of the one that it had
	Damage   []*domarkx.SyntaxError
	State    string // as in [Stream]
	Read     int64  // bytes of Data that will stay as they are
}
