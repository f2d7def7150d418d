package domarkx

import "time"

// A Signature records who created a commit, and when.
type Signature struct {
	Name, Email string
	When        time.Time // with the zone it is shown in; whole seconds
}

// A Commit is the content of a snapshot that is to be stored.
type Commit struct {
	Parents []string // commit ids, in this order; the first is the one it continues
	State   *State   // storing it sets the ids of blobs that have none
	// Conversation, if not nil, is the conversation, which is already stored. State then has no
	// live messages.
	Conversation *StoredConversation
	// Replaced is the number of messages at the end of the first parent that an append replaces.
	Replaced  int
	Operation string // the command that created it: "import", "append", …
	Subject   string // one line, shown by git log
	Preview   string // see [Preview]; "" for an empty conversation
	Bytes     int64  // size of the document as Markdown
	Author    Signature
	Committer Signature
	Replacement

	// Attachments are added to those of the parents.
	Attachments []Attachment
	// Files are the attached files whose path is new, or whose content differs from the parents'.
	// Their contents are among the attachments.
	Files []AttachedFile
	// Kept, if not nil, are all attachments of the snapshot: it gets none from its parents.
	Kept []Attachment
}

// A StoredConversation is a conversation whose tree is already stored.
type StoredConversation struct {
	Tree     string // object id; "" for an empty conversation
	Messages int
}
