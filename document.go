package domarkx

// A Document is a session as somebody wrote it: what a codec decodes and
// encodes. It has no history; [Thread] has.
type Document struct {
	Header       Header
	Preamble     Written // the bytes before the first message; unwritten unless the format is Markdown
	Conversation []WrittenMessage
	Includes     []Include // the files that the document included, by path
}

// A WrittenMessage is a message and how its author wrote it.
type WrittenMessage struct {
	Message
	Written
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
