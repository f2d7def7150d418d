package domarkx

import "time"

// A Signature is who made a commit, and when.
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
	Operation    string // the command that made it: "import", "append", …
	Subject      string // one line for people who read git log
	Preview      string // see [Preview]; "" for an empty conversation
	Bytes        int64  // size of the document as Markdown
	Author       Signature
	Committer    Signature

	// Attachments are new ones; those of the parents are carried on.
	Attachments []Attachment
	// Files are those that are new by their path, or differ from what the parents have
	// there. Their contents are among the attachments.
	Files []AttachedFile
}

// A StoredConversation is the live messages of a snapshot.
type StoredConversation struct {
	Tree     string // "" for none
	Messages int
}
