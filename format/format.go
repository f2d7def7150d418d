// Package format defines codecs: how the bytes of a format become a
// [domarkx.Document], and how a document becomes bytes. Each format has a package of
// its own below; format/all lists them.
package format

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
)

// HeadSize is the number of bytes from the start of a file that [Codec.Detect] needs. If the file
// is shorter, Detect gets the whole file.
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
	// Decode reads a whole document. If that cannot be read, the error is a [*syntax.Error]
	// with Source.Path. Errors despite which the document could be read are listed in its Damage,
	// in the same form.
	Decode func(src Source) (*domarkx.Document, error)
	// Encode writes a whole document. The result depends only on the document and the target.
	Encode func(doc *domarkx.Document, to Target) ([]byte, error)

	Origin
	// Open reads a document that may be larger than memory, or that may hold several conversations.
	// The first one is the conversation that Decode returns. A stream is valid until the loop ends.
	// If the document cannot be read, the iterator yields an error like that of Decode, and ends.
	Open func(f File) iter.Seq2[Stream, error]
	// Write, if not nil, is like Encode for messages that may not fit in memory. It records losses.
	// The function that it returns writes the document, and may be called several times.
	Write func(h domarkx.Header, messages Messages, to Target) (func(w io.Writer) error, error)
	// Grow reads the data that was appended to a document. It returns true if the data only
	// continues the document's first conversation; if not, the whole document must be read again.
	Grow func(g Growth) (Grown, bool, error)
	// Images reports that messages may contain images as data URLs, each on a line of its own. An
	// import stores these images as files.
	Images bool
}

// An Origin is what a codec knows of the program that writes its format.
type Origin struct {
	// Program is the name under which users know the format's program, such as "Claude Code"; "" if it is Name.
	Program string
	// Records reports that a call in its documents, whose resource is Name, is a record of what the format's
	// program did. It never runs.
	Records bool
	// Identify returns the identity of the session that a document was saved from, as its header
	// states it. If Identify is nil or the identity is unknown, the file identifies the session.
	Identify func(h domarkx.Header) Identity
	// Fork returns the header of a new session that branches off the session with header h. It
	// returns false if the format's program has no such sessions.
	Fork func(h domarkx.Header, f Fork) (domarkx.Header, bool)
	// SavedAt returns the time when a document was saved, which data (the document or its
	// beginning) or the file's name states. It returns false if neither does. Saves of a session
	// are imported in the order of these times.
	SavedAt func(data []byte, name string) (Saving, bool)
	// Place returns the path at which the format's program stores a document. Callers increase
	// attempt from 0 until the path is free; each value gives another path.
	Place func(f File, attempt int) (Place, error)
	// IsPart reports whether the session with this header is only a part of the document that it
	// was imported from. Then that document is not an export of the session.
	IsPart func(h domarkx.Header) bool
	// NamedFiles, if not nil, describes the files that messages refer to by path. Formats with Open
	// have none.
	NamedFiles *NamedFiles
	// Homes, if not nil, describes directories that contain such documents.
	Homes *Homes
}

// NamedFiles describes the files that messages of a document refer to by path. The files exist only on
// the machine where the document was written, and are imported with it.
type NamedFiles struct {
	// Of returns the path of the file that a message refers to, or "".
	Of func(m domarkx.Message) string
	// Is reports whether a file can be one that messages refer to, by its first bytes (at most
	// [HeadSize]). A document can name any file of the machine; only files for which Is returns
	// true are read further.
	Is func(head []byte) bool
	// Digest returns the SHA-256, in hexadecimal, of the file that was stored with a message, or "".
	Digest func(m domarkx.Message) string
	// WithDigest returns the message with that digest recorded. Encode does not write the digest.
	WithDigest func(m domarkx.Message, sha256 string) domarkx.Message
}

// An Identity identifies the session that a document was saved from.
type Identity struct {
	ID   string // the same in all saves of one session and no others; "" if unknown
	Name string // a name for the session, not yet valid as one; "" for the file's name

	// Parent is the ID of the session that started this one, or "". If the repository has that
	// session, this session gets its name with Suffix appended.
	Parent string
	Suffix string

	// SessionID, CreatedAt and UpdatedAt are shown in lists, spelled as in the document; "" if
	// unknown.
	SessionID string
	CreatedAt string
	UpdatedAt string
	// Saved is UpdatedAt in milliseconds since 1970, UTC; 0 if unknown.
	Saved int64
}

// A Fork holds the properties of a new session that is forked from another.
type Fork struct {
	UUID string    // unique to this session
	At   time.Time // time of the fork
	Cut  bool      // the new session ends before the end of the original
}

// A Saving identifies a save of a document: its time and its session.
type Saving struct {
	At    int64  // milliseconds since 1970, UTC
	Group string // what the names of all files with saves of a session have in common; "" if the name states nothing
}

// A Place is where a program stores a document.
type Place struct {
	Path string // below the directory of its documents; relative, slash-separated, clean
	Team string // ID of the team whose document it is
	ID   string // see [Identity]
}

// A NewSession holds the properties of a new session of the format's program.
type NewSession struct {
	ID      string // a UUID
	WorkDir string // absolute path of the directory in which the program will be started
	// Model is the model that the program will use, spelled as the program does it, for formats
	// that must state one; "" if unknown.
	Model string
	// Aside asks for a path that the program would not choose for this session itself.
	Aside bool
}

// A Target holds the options for encoding a document. The zero Target is valid.
type Target struct {
	Session string // the name of the session
	Team    string // the team of a document without one; "" for the format's default
	// Losses, if not nil, collects the content that the format cannot represent.
	Losses *Losses
	// New, if not nil, asks for the document of a new session of the format's program. Formats
	// without session IDs ignore it.
	New *NewSession
	// Records, if not nil, reports whether calls with a resource are records of another format's program.
	Records func(resource string) bool
	// File, if not nil, returns the content of the file that the session stores under a path.
	File func(path string) ([]byte, error)
	// Original, if not nil, calls read with the document that the session was imported from, if
	// that is stored.
	Original func(read func(File) error) error
}

// Lose records something in the session that the format cannot represent.
func (t Target) Lose(form string, args ...any) { t.LoseOf(-1, form, args...) }

// LoseOf records something in a message that the format cannot represent. Messages are counted from
// 0; -1 stands for the session.
func (t Target) LoseOf(message int, form string, args ...any) {
	if t.Losses != nil {
		t.Losses.Add(message, fmt.Sprintf(form, args...))
	}
}

// LoseCall records something in a call or in its result that the format cannot represent.
func (t Target) LoseCall(what string) {
	if t.Losses != nil {
		t.Losses.AddOne("call", what)
	}
}

// ForgetLosses deletes the recorded losses, before another attempt to write.
func (t Target) ForgetLosses() {
	if t.Losses != nil {
		*t.Losses = Losses{}
	}
}

// A Source is a document to decode.
type Source struct {
	Path string // as the user named it, for errors; may be ""
	Data []byte // the decoded document shares it; the caller must not change it afterwards

	// Include returns the content of an included file. Its path is relative to the document's
	// directory, slash-separated, clean, and lexically inside the directory. Include must itself
	// reject symbolic links that lead out of the directory. If nil, the document cannot include
	// files.
	Include func(path string) ([]byte, error)
}

// Detect returns the codec that recognises a file by its content, given its first [HeadSize] bytes
// and its name, and whether one was found.
func Detect(codecs []Codec, head []byte, name string) (Codec, bool) {
	return first(codecs, func(c Codec) bool { return c.Detect(head, name) })
}

func first(codecs []Codec, is func(c Codec) bool) (Codec, bool) {
	if i := slices.IndexFunc(codecs, is); i >= 0 {
		return codecs[i], true
	}
	return Codec{}, false
}

// Pick returns the codec for a file that the user named: the one that recognises its content, or
// else the one with its extension. It returns false if there is none.
func Pick(codecs []Codec, head []byte, name string) (Codec, bool) {
	if c, ok := Detect(codecs, head, name); ok {
		return c, true
	}
	ext := strings.ToLower(path.Ext(name))
	return first(codecs, func(c Codec) bool { return slices.Contains(c.Extensions, ext) })
}

// ByName returns the codec with that name, and whether it was found.
func ByName(codecs []Codec, name string) (Codec, bool) {
	return first(codecs, func(c Codec) bool { return c.Name == name })
}

// Names yields the member names in the beginning of a JSON document, in order, each with its
// nesting depth; the document's own members have depth 1. It ends with head or with the document.
// It yields nothing if the document is not an object. It does not decode escapes in names.
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

// A Growth is data that was appended to a document, with the state of the document before.
type Growth struct {
	Path   string
	Data   []byte         // the bytes that follow the first Stream.Read bytes; shared as in [Source]
	State  string         // as in [Stream]
	Header domarkx.Header // header of the session so far
}

// A Grown has the messages that a [Growth] adds to a session.
type Grown struct {
	Messages []domarkx.WrittenMessage // appended to the session's messages
	Header   domarkx.Header           // the new header, which replaces the old one
	Damage   []*syntax.Error
	State    string // as in [Stream]
	Read     int64  // number of bytes of Data that do not change when the document grows
}
