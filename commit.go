package domarkx

import "time"

// A Signature is who made a commit, and when.
type Signature struct {
	Name, Email string
	When        time.Time // with the zone it is shown in; whole seconds
}

// A Commit is a snapshot to be stored.
type Commit struct {
	Parents   []string // commit ids, in this order; the first is the one it continues
	State     *State   // blobs without an id are stored, and get one
	Operation string   // the command that made it: "import", "append", …
	Subject   string   // one line for people who read git log
	Preview   string   // see [Preview]; "" for an empty conversation
	Bytes     int64    // size of the document as Markdown
	Author    Signature
	Committer Signature
}
