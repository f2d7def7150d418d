package domarkx

import "time"

// A Signature records who created a commit, and when.
type Signature struct {
	Name, Email string
	When        time.Time // with the zone it is shown in; whole seconds
}

// A Commit is a snapshot to be stored.
type Commit struct {
	Parents []string // commit ids, in this order; the first is the one it continues
	State   *State   // blobs without an id are stored, and get one
	// Conversation is the live messages where they are stored already; the state has
	// none then.
	Conversation *StoredConversation
	// Replaced is the number of messages at the end of the first parent that an append replaces.
	Replaced  int
	Operation string // the command that created it: "import", "append", …
	Subject   string // one line, shown by git log
	Preview   string // see [Preview]; "" for an empty conversation
	Bytes     int64  // size of the document as Markdown
	Author    Signature
	Committer Signature
	Replaces  string // the snapshot that this redacted one replaces; "" for any other

	// Attachments are the new ones; those of the parents are kept.
	Attachments []Attachment
	// Files are those whose path is new, or whose content differs from the parents'. Their contents
	// are among the attachments.
	Files []AttachedFile
	// Kept, if not nil, are all attachments of the snapshot: none is taken from the parents.
	Kept []Attachment
}

// A StoredConversation is the live messages of a snapshot.
type StoredConversation struct {
	Tree     string // "" for none
	Messages int
}
