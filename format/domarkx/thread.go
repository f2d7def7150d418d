package domarkx

// A Blob is content that is stored under an object id, or still in memory, or both.
type Blob struct {
	ID     string // "" when Data is not stored yet
	Chunks string // id of the tree with the content, if it is large; else ""
	Data   []byte // may be nil when ID is set
}

// IsZero reports whether the blob is absent.
func (b Blob) IsZero() bool { return b.ID == "" && b.Data == nil }

// An Entry is one message of a thread. Consecutive entries with the same ID are different texts of
// one message; see [Merge].
type Entry struct {
	ID    ID
	After ID    // the message it was inserted after; zero for the beginning
	Rev   Rev   // of this text; zero for the text with which the message was inserted
	Past  []Rev // replaced revisions of this message, sorted

	Role   Role
	Date   int64  // when this revision was written, in Unix seconds
	Link   string // the workspace version that its tool calls left; "" if none
	Layout Layout

	JSON   Blob // the message object, without a mark of a conflict
	Source Blob // the author's bytes, if Layout.Verbatim
}

// A Tombstone records a removed message.
type Tombstone struct {
	ID    ID
	After ID
	Past  []Rev // all revisions that it had, sorted
}

// A Thread is a conversation as stored.
type Thread struct {
	Live []Entry     // in order
	Dead []Tombstone // in order of ID
}

// A HeaderEntry is a header as stored, with properties of the whole document.
type HeaderEntry struct {
	Rev  Rev
	Past []Rev // replaced revisions, sorted

	JSON     Blob   // the header's object
	Layout   Layout // of the preamble
	Source   Blob   // the preamble's bytes, if Layout.Verbatim
	Includes string // id of the tree of included files; "" if none
	Origin   string // id of the tree of the original, for a session imported from another format; else ""
}

// A State is the content of a snapshot.
type State struct {
	Headers []HeaderEntry // the first is shown; the others conflict with it
	Thread  Thread
}
