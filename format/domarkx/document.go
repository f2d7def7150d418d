package domarkx

import (
	"github.com/domarkx/domarkx/format/syntax"
)

// A Document is a session as its author wrote it; codecs decode and encode it. It has no history,
// unlike a [Thread].
type Document struct {
	Header       Header
	Preamble     Written // the bytes before the first message; zero unless the format is Markdown
	Conversation []WrittenMessage
	Includes     []Include // the files that the document included, by path
	// Damage lists the parts that could not be read, and those that were read although the format forbids them. It is
	// empty for a valid document.
	Damage []*syntax.Error
}

// A WrittenMessage is a message together with the bytes in which its author wrote it.
type WrittenMessage struct {
	Message
	Written
	// ID and Date are the stored id and date of the message; zero if it is not in a session yet. The
	// document of another program may state a date.
	ID   ID
	Date int64 // when this text was written, in Unix seconds
	// Origin is the id of the message in the document of another program, or "". The message's ID
	// derives from Origin and from the message before.
	Origin string
}

// Written is a layout and the bytes that it describes.
type Written struct {
	Layout
	Bytes []byte // the author's, when Layout.Verbatim; else nil
}

// An Include is a file that a document included.
type Include struct {
	Path string // relative to the document's directory, slash-separated, clean
	Data []byte
}
