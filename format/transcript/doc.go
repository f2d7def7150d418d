// Package transcript reads the transcripts of coding agents: files of JSON lines, a record each.
// It finds the messages among the records, pairs calls with their results, reads around damage, and
// follows a file that grows. What the records of one agent mean is said by an [Agent].
//
// A file is read twice, so that it can be larger than memory: once for an index of the records that
// belong to messages, and once for each message. Records outside of a conversation are
// passed over; the importer keeps the whole file as the session's original.
package transcript

import "github.com/domarkx/domarkx"

// An Agent describes the transcripts of one program.
type Agent struct {
	Name    string // of the format, and of the resource in tool-call blocks: "claude-code"
	Program string // as users know it: "Claude Code"
	// Is reports whether a transcript begins with this object.
	Is func(first domarkx.Value) bool
	// Skips reports whether Note needs no value of that member, by its name and the value's kind.
	Skips func(name string, kind domarkx.Kind) bool
	// Refuse, if not nil, says why a transcript that begins with head cannot be read; nil if it can.
	Refuse func(head []byte) *domarkx.SyntaxError
	// Array is the name of the array with the records, for files that are one JSON object, on
	// several lines or not; the object without them is the first record. "" if there are no such
	// files.
	Array string
	// Note classifies a record. Records come in the order of the file. It adds to s what the
	// record says about the whole session.
	Note func(v domarkx.Value, s *Session) Note
	// Say adds the content of a record to a message. It gets the records of a message in order.
	Say func(v domarkx.Value, m *Message)
	// Version7 says that the agent's ids are UUIDs of version 7.
	Version7 bool
	// Unrecorded says that the transcripts have no results of calls.
	Unrecorded bool
	// Write writes a session as a new transcript; nil if the format can only be read.
	Write func(w *Writer) error
	// Path returns where the program keeps a transcript with that header, below the directory of
	// all its transcripts. Without it, transcripts have no such place.
	Path func(s Session) string
}

// A Kind classifies a record.
type Kind uint8

// The kinds of records.
const (
	Other  Kind = iota // no part of a message, but for Results
	Prompt             // a message of the user
	Answer             // a response of the model, or a part of one
	About              // says more about the answer of its Group, which may follow, or the one before it
)

// A Note is what the index has to know about a record.
type Note struct {
	Kind Kind
	// Once identifies the record. A record with the same bytes as an earlier one is passed over if
	// both have it.
	Once string
	// Group joins answers: those with the same one are one message, wherever they are. Answers
	// without one are joined as long as no prompt, result or record About them is between them.
	Group string
	// Alone says that an answer without a Group is a whole message.
	Alone bool
	// Latest says that the record replaces those of its Group.
	Latest bool
	// Calls and Results are the ids of the calls that the record makes, and of those whose results
	// it has. A result without its call becomes a message.
	Calls, Results []string
	// ID identifies the record, and Parent the one that it follows. Such records are a tree: the
	// conversation is the way to the last one, and what else ends is a branch.
	ID, Parent string
	// After identifies what a prompt comes after; "" if unknown. Of two prompts after the same, the
	// first, with all that follows it, is a branch that the user left.
	After string
	// Text begins the title, if no record gives one, and ends the waiting of a Queued prompt with
	// the same text.
	Text string
	// Queued marks a prompt that counts only if no other one with its Text follows.
	Queued bool
	// Drop undoes that many prompts, with all that follows them, and BackTo the message of that
	// Group: all messages if there is none. They become a branch.
	Drop   int
	BackTo string
	// Time is when the record was written, as in [format.ParseTime].
	Time string
	// Items are records inside of this one, and Clear says that the conversation begins anew with
	// them.
	Items []domarkx.Value
	Clear bool
}

// A Session holds the properties of the whole session in a transcript.
type Session struct {
	ID      string `json:"id,omitempty"`      // that the program gave it
	Sub     string `json:"sub,omitempty"`     // of a sub-agent: its id within the session ID
	Parent  string `json:"parent,omitempty"`  // the ID of the session that started this one
	Title   string `json:"title,omitempty"`   // given by the program or the user
	Rank    int    `json:"rank,omitempty"`    // of Title; one of a lower rank does not replace it
	Prompt  string `json:"prompt,omitempty"`  // how the first prompt begins
	Created string `json:"created,omitempty"` // the time of the first message
	Cwd     string `json:"cwd,omitempty"`     // the first one
	// Branches are the Git branches that the agent worked on, in the order of their appearance.
	Branches []string `json:"branches,omitempty"`
	// Context holds for the messages that begin with the following records: [Message.Context].
	Context string `json:"context,omitempty"`
	// Memory is for the agent alone.
	Memory string `json:"memory,omitempty"`
}

// Named gives the session a title; one of a higher rank stays.
func (s *Session) Named(title string, rank int) {
	if title != "" && rank >= s.Rank {
		s.Title, s.Rank = title, rank
	}
}

// maxBranches limits the list of branches.
const maxBranches = 100

// In notes where a message was said: the working directory and the branch, "" if unknown.
func (s *Session) In(cwd, branch string) {
	if s.Cwd == "" {
		s.Cwd = cwd
	}
	if branch == "" || len(s.Branches) == maxBranches {
		return
	}
	for _, b := range s.Branches {
		if b == branch {
			return
		}
	}
	s.Branches = append(s.Branches, branch)
}
