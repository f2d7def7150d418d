// Package pi reads and writes the transcripts of pi, JSON lines of an entry each that form a tree.
// SPEC.md beside this code says how they become domarkx sessions and back.
package pi

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "pi"

// version is the newest version of the format, in which transcripts are written.
const version = 3

// Codec returns the codec for transcripts of pi.
func Codec() format.Codec {
	c := transcript.Codec(agent())
	c.Extensions = []string{".jsonl"}
	c.Detect, c.Encode, c.Write = detect, format.Encoding(write), write
	identify, fork, place := c.Identify, c.Fork, c.Place
	c.Identify = func(h domarkx.Header) format.Identity {
		id := identify(h)
		id.Name, id.Parent, id.Suffix = "", "", "" // a session is named after its file
		if id.ID != "" {
			id.ID = identity(id.SessionID, transcript.Text(*h.UserMetadata, keyFork))
		}
		return id
	}
	c.Fork = func(h domarkx.Header, f format.Fork) (domarkx.Header, bool) {
		about := h.UserMetadata
		if h, ok := fork(h, f); ok { // pi records the file of the parent
			parent := fileName(transcript.Text(*about, keyCreated), transcript.Text(*about, keySession)) + ".jsonl"
			now := h.UserMetadata.With(keyParent, transcript.Str(parent)).With(keyCreated, transcript.Str(f.At.UTC().Format(format.ISOTime)))
			h.UserMetadata = &now
			return h, true
		}
		return h, false
	}
	c.Place = func(f format.File, attempt int) (format.Place, error) {
		p, err := place(f, attempt)
		if v, wrong := jsonvalue.ParseValue([]byte(p.ID)); err == nil && wrong == nil {
			p.ID = identity(v.Items()[0].Text(), "")
		}
		return p, err
	}
	return c
}

func agent() *transcript.Agent {
	return &transcript.Agent{Name: Name, Program: Name, Is: isHeader, Refuse: refuse, Note: note, Say: say, Path: path,
		Write: func(w *transcript.Writer) error { return newWriting(w, nil).session() },
		Skips: []string{"thinking", "thinkingSignature", "data", "arguments", "command", "output", "summary", "usage", "details"}}
}

// The members of the front matter of a transcript's session.
const (
	keySession = "session_id"
	keyCreated = "created_at"
	keyParent  = "parent"
	keyFork    = "fork"
)

// identity returns the identity of the transcript with a session ID or, if fork is not "", of the
// branch that ends with the entry called fork.
func identity(session, fork string) string {
	id := []jsonvalue.Value{transcript.Str(session)}
	if fork != "" {
		id = append(id, transcript.Str(fork))
	}
	return transcript.List(id...).JSON()
}

func detect(head []byte, _ string) bool {
	first := jsonlines.First(head)
	return isHeader(first) || agentOf(head, first) != "" // those are not taken for another format
}

// isHeader reports whether an object is the first line of a transcript.
func isHeader(v jsonvalue.Value) bool {
	return transcript.Text(v, "type") == "session" && transcript.Get(v, "id").Kind() == jsonvalue.String
}

// refuse says why a transcript of another agent or version cannot be read.
func refuse(head []byte) *syntax.Error {
	first := jsonlines.First(head)
	wrong := &syntax.Error{Line: 1, Column: 1, Err: domarkx.ErrUnsupported}
	stated, ok := first.Get("version")
	switch name := agentOf(head, first); {
	case !isHeader(first) && name != "":
		wrong.Msg = "is a transcript of " + name + ", which is not supported yet; expected one of pi"
	case isHeader(first) && ok && stated.Kind() != jsonvalue.Null && versionOf(first) == 0:
		wrong.Column, wrong.Pointer = stated.Offset()+1, "/version"
		wrong.Msg = fmt.Sprintf("version is %s, expected 1, 2 or 3, the only ones that are known", stated.JSON())
	default:
		return nil
	}
	return wrong
}

// versionOf returns the version of a header: 1, 2 or 3, or 0 if it is unknown.
func versionOf(header jsonvalue.Value) int {
	v := transcript.Get(header, "version")
	if v.Kind() == jsonvalue.Null {
		return 1
	}
	n, err := strconv.ParseFloat(v.Text(), 64)
	if v.Kind() != jsonvalue.Number || err != nil || n != 1 && n != 2 && n != 3 {
		return 0
	}
	return int(n)
}

// path returns where pi keeps a transcript: --CWD--/TIME_ID.
func path(s transcript.Session) string {
	cwd := strings.TrimPrefix(strings.TrimPrefix(s.Cwd, "/"), "\\")
	return format.FileName("--"+strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(cwd)+"--") + "/" + fileName(s.Created, s.ID)
}

func fileName(time, id string) string {
	return format.FileName(strings.NewReplacer(":", "-", ".", "-").Replace(time) + "_" + id)
}

// linear is the state for transcripts of version 1, whose entries have no IDs.
const linear = "linear"

// note extracts from an entry what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	if transcript.Text(v, "type") == "session" {
		if s.Memory == "" { // the first one counts
			s.ID, s.Created, s.Cwd, s.Parent = transcript.Text(v, "id"), transcript.Text(v, "timestamp"), transcript.Text(v, "cwd"), transcript.Text(v, "parentSession")
			if s.Memory = "tree"; versionOf(v) == 1 {
				s.Memory = linear
			}
		}
		return transcript.Note{}
	}
	n := transcript.Note{Time: transcript.Text(v, "timestamp")}
	if s.Memory != linear {
		n.ID, n.Parent = transcript.Text(v, "id"), transcript.Text(v, "parentId")
	}
	if transcript.Text(v, "type") == "session_info" {
		s.Named(transcript.Text(v, "name"), 0)
	}
	e := entryOf(v)
	switch e.kind {
	case prompt:
		n.Kind, n.Text = transcript.Prompt, e.text()
	case shell:
		n.Kind = transcript.Prompt
	case answer:
		n.Kind, n.Alone = transcript.Answer, true
		for _, item := range e.content().Items() {
			if id := transcript.Text(item, "id"); isCall(item) && id != "" {
				n.Calls = append(n.Calls, id)
			}
		}
	case result:
		n.Results = []string{transcript.Text(e.body, "toolCallId")}
	}
	if e.kind != nothing {
		n.Once = n.ID
	}
	return n
}

// A kind classifies an entry by its role in a conversation.
type kind uint8

const (
	nothing kind = iota // not part of the conversation; only the stored original has it
	prompt              // text of the user, or text that pi wrote in the user's place
	shell               // a command that the user ran
	answer              // an answer of the model
	result              // the result of a call
)

// An entry is a line of a transcript. Its content is a member of the line, or of its message.
type entry struct {
	kind   kind
	body   jsonvalue.Value
	member string // of body
}

// entryOf classifies an entry. An entry that has nothing to show is of the kind nothing.
func entryOf(v jsonvalue.Value) entry {
	e := entry{body: v, member: "content"}
	switch transcript.Text(v, "type") {
	case "message":
		e.body = transcript.Get(v, "message")
		switch transcript.Text(e.body, "role") {
		case "user", "custom", "hookMessage": // the last one in versions before 3
			e.kind = prompt
		case "branchSummary", "compactionSummary":
			e.kind, e.member = prompt, "summary"
		case "assistant":
			e.kind = answer
		case "toolResult":
			e.kind = result
		case "bashExecution":
			e.kind, e.member = shell, "command"
		}
	case "compaction", "branch_summary":
		e.kind, e.member = prompt, "summary"
	case "custom_message":
		e.kind = prompt
	}
	content := e.content().Kind()
	if content != jsonvalue.String && (content != jsonvalue.Array || e.member != "content") || e.kind == shell && transcript.Get(e.body, "output").Kind() != jsonvalue.String {
		e.kind = nothing
	}
	return e
}

func (e entry) content() jsonvalue.Value { return transcript.Get(e.body, e.member) }

// text returns the texts of the content.
func (e entry) text() string {
	if e.content().Kind() == jsonvalue.String {
		return e.content().Text()
	}
	var texts []string
	for _, item := range e.content().Items() {
		if isText(item) {
			texts = append(texts, transcript.Text(item, "text"))
		}
	}
	return strings.Join(texts, "\n\n")
}

func isText(item jsonvalue.Value) bool { return transcript.Text(item, "type") == "text" }

// isCall reports whether a part of an answer is a call of a tool.
func isCall(item jsonvalue.Value) bool {
	return transcript.Text(item, "type") == "toolCall" && transcript.Text(item, "name") != ""
}
