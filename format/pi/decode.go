package pi

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// decode reads the conversation that pi would open: that of the transcript's last
// entry. What cannot be read is kept where it stands, and is told in the document's
// damage; a file that is no transcript of pi is a [*domarkx.SyntaxError], that of
// another agent or version [domarkx.ErrUnsupported] too.
func (c codec) decode(src format.Source) (*domarkx.Document, error) {
	l := lines{schema: c.schema}
	if err := l.readAll(src); err != nil {
		return nil, err
	}
	doc, _ := l.document(l.branchesOf()[0])
	doc.Damage = l.reports()
	return doc, nil
}

// branches reads all conversations of a transcript.
func (c codec) branches(src format.Source) ([]format.Branch, error) {
	l := lines{schema: c.schema}
	if err := l.readAll(src); err != nil {
		return nil, err
	}
	var all []format.Branch
	for _, b := range l.branchesOf() {
		doc, state := l.document(b)
		made := format.Branch{Document: doc}
		if b.fork != "" {
			made.Suffix = ".fork-" + b.fork
		} else {
			made.State, made.Read = state, int64(l.consumed)
		}
		all = append(all, made)
	}
	all[0].Document.Damage = l.reports()
	return all, nil
}

// state is what is remembered of a transcript, to read what it grows by.
type state struct {
	Version int      `json:"version"`
	Lines   int      `json:"lines"`
	Open    bool     `json:"open,omitempty"`  // the last line has no line end yet
	Last    string   `json:"last"`            // the last entry
	Calls   []string `json:"calls,omitempty"` // those of the last assistant's message without a result
	HasTail bool     `json:"tail,omitempty"`  // behind what was read for good stands a broken line
}

// maxCalls bounds the state.
const maxCalls = 1000

// document makes a session of a branch.
func (l *lines) document(b branch) (*domarkx.Document, string) {
	made := newBuilder()
	made.pending = append(made.pending, l.lead...)
	for _, i := range b.path {
		made.node(l.nodes[i])
	}
	about := l.header
	if b.fork != "" {
		about = about.With(keyFork, str(b.fork))
	}
	doc := &domarkx.Document{Header: domarkx.NewHeader(), Conversation: made.finish()}
	doc.Header.UserMetadata = made.about(about, l.tail)
	calls := made.openCalls()
	if l.version == 1 || len(calls) > maxCalls {
		return doc, ""
	}
	return doc, state{Version: l.version, Lines: l.number - lineOf(l.tail), Open: l.open, Last: l.last, Calls: calls, HasTail: l.tail != ""}.encode()
}

// lineOf is how many lines a tail is.
func lineOf(tail string) int {
	if tail == "" {
		return 0
	}
	return 1
}

func (s state) encode() string {
	if !utf8.ValidString(s.Last) {
		return ""
	}
	data, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return string(data)
}

// grow reads what a transcript grew by, of which the rest is known, and reports whether
// it only continues the conversation.
func (c codec) grow(g format.Growth) (format.Grown, bool, error) {
	var s state
	if json.Unmarshal([]byte(g.State), &s) != nil || g.Header.UserMetadata == nil || !isHeader(*g.Header.UserMetadata) {
		return format.Grown{}, false, nil
	}
	data := g.Data
	if s.Open && len(data) > 0 && data[0] != '\n' && data[0] != '\r' {
		return format.Grown{}, false, nil
	}
	about := *g.Header.UserMetadata
	l := lines{path: g.Path, schema: c.schema, number: s.Lines, version: s.Version, header: about, last: s.Last, seen: s.Last != ""}
	if s.Open { // its line is counted already
		l.number--
	}
	if err := l.read(data); err != nil {
		return format.Grown{}, false, err
	}
	made := newBuilder()
	kept, _ := about.Get(keyAfter)
	made.pending = append(made.pending, kept.Items()...)
	made.name = text(about, keySessionName)
	if n := len(made.pending); n > 0 && s.HasTail {
		made.pending = made.pending[:n-1]
	}
	made.pending = append(made.pending, l.lead...)
	known := map[string]bool{}
	for _, id := range s.Calls {
		known[id] = true
	}
	last := s.Last
	for _, n := range l.nodes {
		message, _ := n.value.Get(keyMessage)
		if n.parent != last || n.hasParent != (last != "") || known[text(message, keyToolCallID)] {
			return format.Grown{}, false, nil
		}
		made.node(n)
		last = n.id
	}
	grown := format.Grown{Messages: made.finish(), Header: g.Header, Damage: l.reports()}
	grown.Header.UserMetadata = made.about(about.Without(keyAfter), l.tail)
	next := state{Version: s.Version, Lines: l.number - lineOf(l.tail), Open: l.open, Last: last,
		Calls: made.openCalls(), HasTail: l.tail != ""}
	if !made.answered {
		next.Calls = s.Calls
	}
	if l.consumed == 0 {
		next.Open = s.Open
	}
	grown.State, grown.Read = next.encode(), int64(l.consumed)
	return grown, true, nil
}
