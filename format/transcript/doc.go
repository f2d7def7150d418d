// Package transcript reads the transcripts of coding agents: files of JSON lines, one record per
// line. It finds the messages among the records, pairs calls with their results, reads damaged
// files as far as possible, and follows a file that grows. An [Agent] interprets the records of one
// program.
//
// A file is read twice, so that it can be larger than memory: once for an index of the records that
// belong to messages, and once for the messages. Records outside of a conversation are ignored; the
// importer stores the whole file as the session's original.
package transcript

import (
	"cmp"
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// An Agent describes the transcripts of one program.
type Agent struct {
	Name    string // of the format, and of the resource in tool-call blocks, such as "claude-code"
	Program string // the name that users know, such as "Claude Code"
	// Is reports whether an object can be the first record of a transcript.
	Is func(first jsonvalue.Value) bool
	// Skips are the names of members that Note does not read, and SkipsText of those whose strings it does not read.
	Skips, SkipsText []string
	// Refuse, if not nil, returns why a transcript that begins with head cannot be read, or nil.
	Refuse func(head []byte) *syntax.Error
	// Array is the name of the member with the records, for files that consist of one JSON object,
	// on one line or several. The object without this member is the first record. "" if there are
	// no such files.
	Array string
	// Note classifies a record, and adds to s what the record says about the whole session. It is
	// called in the order of the file.
	Note func(v jsonvalue.Value, s *Session) Note
	// Say adds the content of a record to a message. It is called for the records of a message in
	// order.
	Say func(v jsonvalue.Value, m *Message)
	// Version7 reports that the agent's ids are UUIDs of version 7.
	Version7 bool
	// Unrecorded reports that the agent does not record the results of calls.
	Unrecorded bool
	// Write writes a session as a new transcript; nil if the format can only be read.
	Write func(w *Writer) error
	// Path returns where the program stores a transcript with these properties, below the directory
	// of all its transcripts and without the extension. Nil stands for no such place.
	Path func(s Session) string
}

// A Kind classifies a record.
type Kind uint8

// The kinds of records.
const (
	Other  Kind = iota // not a part of a message, except for its Results
	Prompt             // a message of the user
	Answer             // a response of the model, or a part of one
	About              // adds data to the answer of its Group, or without a Group, to the answer before it
)

// A Note holds what the index needs from a record.
type Note struct {
	Kind Kind
	// Once, if not "", allows copies of the record: if an earlier record with a Once has the same
	// bytes, this record is ignored.
	Once string
	// Group identifies the message that an answer belongs to: all answers with the same Group form
	// one message, wherever they are. Answers without a Group form one message as long as no
	// prompt, result or record of kind About is between them. A record of kind About may precede
	// the answer of its Group; of several such records, the last one counts.
	Group string
	// Alone reports that an answer without a Group is a message of its own.
	Alone bool
	// Latest reports that the record replaces the earlier records of its Group.
	Latest bool
	// Calls are the ids of the calls in the record. Results are the ids of the calls whose results
	// are in the record. A result whose call is missing becomes a message.
	Calls, Results []string
	// Text is the text of a prompt. The first one that says something becomes the title if no record states one. A
	// prompt also replaces an earlier Queued prompt with the same text. The text of an answer only
	// identifies it among Copies.
	Text string
	// Queued reports that a prompt counts only if no other prompt with the same Text follows.
	Queued bool
	// Time is the time when the record was written, for [format.ParseTime].
	Time string

	Link
	Inner
}

// A Link says what a record follows, or how far it goes back.
type Link struct {
	// ID identifies the record, and Parent is the ID of the record that it follows. Records with IDs
	// form a tree. The conversation is the path from the root to the last record; other leaves end
	// branches.
	ID, Parent string
	// After identifies the message before a prompt; "" if unknown. If two prompts follow the same, the
	// user has abandoned the first one: it and all that follows it are a branch.
	After string
	// Drop is the number of prompts to remove from the end of the conversation, with all that
	// follows them. BackTo is the Group of a message to remove with all messages after it; if there
	// is none, all messages are removed. Removed messages become a branch.
	Drop   int
	BackTo string
}

// Inner are the records that are nested in a record.
type Inner struct {
	// Items are the records nested in this one. Clear reports that they replace the conversation so
	// far.
	Items []jsonvalue.Value
	Clear bool
	// Sub, if not "", is the id of the sub-agent that wrote the Items, which become a session of
	// their own. Copies are records from before the Items, which are used if they are missing.
	// Context is that of their messages; see [Session.Context].
	Sub     string
	Copies  []jsonvalue.Value
	Context string
}

// Nested is the [Session.Memory] with which the records of a sub-agent that are in the file of
// another session are read.
const Nested = "nested"

// A Session holds the properties of the whole session in a transcript.
type Session struct {
	ID      string `json:"id,omitempty"`      // given by the program
	Sub     string `json:"sub,omitempty"`     // the id of a sub-agent within the session; "" for any other agent
	Parent  string `json:"parent,omitempty"`  // the ID of the session that started this one
	Title   string `json:"title,omitempty"`   // given by the program or the user
	Rank    int    `json:"rank,omitempty"`    // rank of Title; a title of a lower rank does not replace it
	Prompt  string `json:"prompt,omitempty"`  // the title that the first prompts give the session
	Created string `json:"created,omitempty"` // the time of the first message
	Cwd     string `json:"cwd,omitempty"`     // the first working directory
	// Branches are the Git branches that the agent worked on, in the order of their appearance.
	Branches []string `json:"branches,omitempty"`
	// Context is assigned to the messages that begin with the records after this one; see
	// [Message.Context].
	Context string `json:"context,omitempty"`
	// Memory is for the Agent's own use.
	Memory string `json:"memory,omitempty"`
}

// Named sets the session's title, unless the current title has a higher rank.
func (s *Session) Named(title string, rank int) {
	if title != "" && rank >= s.Rank {
		s.Title, s.Rank = title, rank
	}
}

// maxBranches is the maximum length of Session.Branches.
const maxBranches = 100

// In records the working directory and the branch of a message; "" if unknown.
func (s *Session) In(cwd, branch string) {
	s.Cwd = cmp.Or(s.Cwd, cwd)
	if branch != "" && len(s.Branches) < maxBranches && !slices.Contains(s.Branches, branch) {
		s.Branches = append(s.Branches, branch)
	}
}
