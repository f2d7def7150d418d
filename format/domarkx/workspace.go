package domarkx

import (
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A ResourceSpec is one resource as a document asks for it (architecture,
// section 5.2).
type ResourceSpec struct {
	ID     string          `json:"id"` // the document's, or else the type, with "-2" and so on if that is in use
	Type   string          `json:"type"`
	Config jsonvalue.Value `json:"config"` // the whole object of the document, as written
}

// A ResourceVersion is a resource in a version of a workspace.
type ResourceVersion struct {
	ResourceSpec
	// Version identifies the content of the resource, for [VersionReader]. It is the same for equal
	// content, names and modes on any machine.
	Version string `json:"version"`
}

// A Version is one immutable state of a workspace.
type Version struct {
	Workspace string
	ID        string // of the commit, in hexadecimal
	Parents   []string
	Number    int   // 1 + the greatest number of the parents
	Date      int64 // of the commit, in Unix seconds
	Subject   string
	Operation string // what created it: "create", "setup", "call", "change", "rewind", …
	Call      *CallRecord
	Observed  *Observation
	Overlap
	Ignored []string // files that the repository ignored when the version was stored, as RESOURCE/PATH, sorted; perhaps not all
	Replacement
	Expired   *Expiry           // if not nil, it has no resources any more
	Resources []ResourceVersion // in the order of the document; nil if only the commit was read
}

// An Overlap says whether a version may contain the work of others.
type Overlap struct {
	Late   bool     // the next call may have begun before the files were read
	Shared []string // other workspaces of the same work tree whose turns overlapped, sorted
}

// An Observation describes a work tree when a version of it was taken.
type Observation struct {
	Head    string   // the commit of HEAD; "" if there is none
	Branch  string   // the short name of the branch; "" if HEAD is detached
	Calls   []string // the agent's ids of the calls that preceded it
	LeftOut []LeftOut
	More    int // number of further files that were left out
}

// A LeftOut is a file or directory that a version does not contain, and the reason.
type LeftOut struct{ Path, Reason string }

// A CallRecord identifies the tool call that produced a version.
type CallRecord struct {
	Session  string // its name at the time of the call
	Message  ID     // of the message with the call
	Index    int    // of the call within the message, from 0
	Resource string
	Tool     string // "" when a runnable block was run
}

// A VersionCommit is the content of a workspace version that is to be stored.
type VersionCommit struct {
	Parents   []string
	Resources []ResourceVersion
	Operation string
	Subject   string // one line, shown by git log
	Call      *CallRecord
	Observed  *Observation
	Overlap
	Ignored []string
	Replacement
	Expired   *Expiry
	Author    Signature
	Committer Signature
}
