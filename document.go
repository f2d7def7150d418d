package domarkx

// A Document is a session as somebody wrote it: what a codec decodes and
// encodes. It has no history; [Thread] has.
type Document struct {
	Header       Header
	Preamble     Written // the bytes before the first message; unwritten unless the format is Markdown
	Conversation []WrittenMessage
	Includes     []Include // the files that the document included, by path
	// Damage is what could not be read, and what was taken although the format
	// forbids it. A document without any is valid.
	Damage []*SyntaxError
}

// A WrittenMessage is a message and how its author wrote it.
type WrittenMessage struct {
	Message
	Written
	// ID and Date are those under which a session keeps the message; zero for one
	// that is in no session yet.
	ID   ID
	Date int64 // when this text was written, in Unix seconds
	// Origin is what the message is called in the document of another program that it is
	// from, "" for nothing. Its id follows from that and from the message before it.
	Origin string
}

// Written is a layout with its bytes.
type Written struct {
	Layout
	Bytes []byte // the author's, when Layout.Verbatim; else nil
}

// An Include is a file that a document included.
type Include struct {
	Path string // relative to the document's folder, slash-separated, clean
	Data []byte
}
