// Package transcript reads the transcripts of coding agents: files of JSON lines, a record each. It
// finds the messages among the records, pairs calls with their results, reads around damage, and
// follows a file that grows. An [Agent] interprets the records of one program.
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
	// Is reports whether an object can be the first record of a transcript.
	Is func(first domarkx.Value) bool
	// Skips reports whether Note does not need the value of a member, given the member's name and the
	// value's kind.
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
	// Say adds the content of a record to a message. It is called for the records of a message in
	// their order.
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
	About              // adds data to the answer of its Group (which may come later), or, without a Group, to the answer before it
)

// A Note holds what the index needs from a record.
type Note struct {
	Kind Kind
	// Once identifies the record. If an earlier record has a Once and the same bytes, this one is
	// ignored as a copy.
	Once string
	// Group identifies the message that an answer belongs to: all answers with the same Group form one
	// message, wherever they are. Answers without a Group form one message as long as no prompt,
	// result or record of kind About is between them.
	Group string
	// Alone says that an answer without a Group is a message of its own.
	Alone bool
	// Latest says that the record replaces those of its Group.
	Latest bool
	// Calls and Results are the ids of the calls that the record makes, and of those whose results
	// it has. A result without its call becomes a message.
	Calls, Results []string
	// ID identifies the record, and Parent is the ID of the record that it follows. Records with IDs
	// form a tree. The conversation is the path from the root to the last record; other leaves end
	// branches.
	ID, Parent string
	// After identifies the position that a prompt follows; "" if unknown. If two prompts follow the
	// same position, the first one and all that follows it are a branch that the user abandoned.
	After string
	// Text is the text of a prompt. It becomes the title if no record states one. It also cancels an
	// earlier Queued prompt with the same text.
	Text string
	// Queued marks a prompt that is ignored if another prompt with the same Text follows.
	Queued bool
	// Drop removes that many prompts from the end of the conversation, with all that follows them.
	// BackTo removes the message with that Group and all after it; all messages if it does not exist.
	// The removed messages become a branch.
	Drop   int
	BackTo string
	// Time is when the record was written, as in [format.ParseTime].
	Time string
	// Items are records nested in this one. Clear says that they replace the conversation so far.
	Items []domarkx.Value
	Clear bool
}

// A Session holds the properties of the whole session in a transcript.
type Session struct {
	ID      string `json:"id,omitempty"`      // that the program gave it
	Sub     string `json:"sub,omitempty"`     // of a sub-agent: its id within the session ID
	Parent  string `json:"parent,omitempty"`  // the ID of the session that started this one
	Title   string `json:"title,omitempty"`   // given by the program or the user
	Rank    int    `json:"rank,omitempty"`    // rank of Title; a title of a lower rank does not replace it
	Prompt  string `json:"prompt,omitempty"`  // how the first prompt begins
	Created string `json:"created,omitempty"` // the time of the first message
	Cwd     string `json:"cwd,omitempty"`     // the first one
	// Branches are the Git branches that the agent worked on, in the order of their appearance.
	Branches []string `json:"branches,omitempty"`
	// Context is assigned to the messages that begin with the records after this one; see
	// [Message.Context].
	Context string `json:"context,omitempty"`
	// Memory is private state of the agent.
	Memory string `json:"memory,omitempty"`
}

// Named sets the session's title, unless the present title has a higher rank.
func (s *Session) Named(title string, rank int) {
	if title != "" && rank >= s.Rank {
		s.Title, s.Rank = title, rank
	}
}

// maxBranches limits the list of branches.
const maxBranches = 100

// In records the working directory and the branch of a message; "" if unknown.
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
