package transcript

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/syntax"
)

// Codec returns the codec for an agent's transcripts.
func Codec(a *Agent) format.Codec {
	c := format.Codec{
		Name:   a.Name,
		Detect: func(head []byte, _ string) bool { return a.Is(jsonlines.First(head)) },
		Decode: format.Decoding(a.open),
		Encode: format.Encoding(a.write),
		Origin: format.Origin{Program: a.Program, Records: true, Identify: a.identify, IsPart: a.isPart},
		Open:   a.open,
		Grow:   a.grow,
		Images: true,
	}
	if a.Write != nil {
		c.Write, c.Fork = a.write, a.fork
	}
	if a.Path != nil {
		c.Place = a.place
	}
	return c
}

// open yields the transcript's own conversation, and then its abandoned branches and the sub-agents whose
// records are in it.
func (a *Agent) open(f format.File) iter.Seq2[format.Stream, error] {
	return func(yield func(format.Stream, error) bool) {
		x := newIndex(a, f)
		err := x.check()
		if err == nil {
			err = x.read()
		}
		if err != nil {
			yield(format.Stream{}, err)
			return
		}
		replaced := x.keepReplaced()
		main, forks := x.paths()
		s := format.Stream{Header: a.header(x.session), Messages: &conversation{x, main}, Damage: x.Reports()}
		if !x.one && !x.Unsure && !replaced {
			s.State, s.Read = x.state().encode(), x.End
		}
		names := map[string]int{}
		if x.forget(); !yield(s, nil) || !x.branches(forks, "", names, yield) {
			return
		}
		for _, c := range x.subs {
			c.session.ID = x.session.ID
			c.session.Parent = x.session.ID
			main, forks := c.paths()
			if c.forget(); len(main) == 0 {
				continue
			}
			suffix := numbered(subSuffix(c.session.Sub), names)
			s := format.Stream{Suffix: suffix, Header: a.header(c.session), Messages: &conversation{c, main}}
			if !yield(s, nil) || !c.branches(forks, suffix, names, yield) {
				return
			}
		}
	}
}

// forget frees a third of the memory, which only read needs.
func (x *index) forget() {
	x.named, x.seen = named{}, nil
}

// branches yields the abandoned branches of a conversation with this suffix, and reports whether to go on.
func (x *index) branches(forks []end, suffix string, names map[string]int, yield func(format.Stream, error) bool) bool {
	for _, end := range forks {
		s, err := x.fork(end, suffix, names)
		if !yield(s, err) || err != nil {
			return false
		}
	}
	return true
}

// numbered returns a suffix, with a number if it is in names already.
func numbered(suffix string, names map[string]int) string {
	if names[suffix]++; names[suffix] > 1 {
		return suffix + "-" + strconv.Itoa(names[suffix])
	}
	return suffix
}

// check returns an error for a file that does not begin like a transcript of the agent.
func (x *index) check() error {
	head, err := x.Head()
	if err != nil {
		return err
	}
	if x.agent.Refuse != nil {
		if err := x.agent.Refuse(head); err != nil {
			err.Path = x.path
			return err
		}
	}
	if !x.agent.Is(jsonlines.First(head)) {
		return &syntax.Error{Path: x.path, Line: 1, Column: 1, Msg: "does not begin like a transcript of " + x.agent.Program}
	}
	return nil
}

// fork returns an abandoned branch of the conversation with this suffix. If its name is in names already, it gets another one.
func (x *index) fork(e end, suffix string, names map[string]int) (format.Stream, error) {
	c := &conversation{x, x.way(e.message)}
	if e.id == "" {
		m, err := c.message(c.Len() - 1)
		if err != nil {
			return format.Stream{}, err
		}
		e.id = m.ID
	}
	h := x.agent.header(x.session)
	about := h.UserMetadata.With(keyFork, Str(e.id))
	h.UserMetadata = &about
	return format.Stream{Suffix: numbered(suffix+".fork-"+e.id[:min(8, len(e.id))], names), Header: h, Messages: c}, nil
}

// A conversation is a path through the messages of a transcript.
type conversation struct {
	*index
	path []int32
}

// Len returns the number of messages.
func (c *conversation) Len() int { return len(c.path) }

// At returns message k.
func (c *conversation) At(k int) (domarkx.WrittenMessage, error) {
	m, err := c.message(k)
	if err != nil {
		return domarkx.WrittenMessage{}, err
	}
	return m.finish(), nil
}

// Key identifies message k. All conversations with this message have the same messages before it.
func (c *conversation) Key(k int) (uint64, bool) {
	return uint64(c.path[k]), c.messages[c.path[k]].shared
}

// End returns the offset of the record with which the next message begins, or of the end of the
// file. This usually follows the results of message k.
func (c *conversation) End(k int) int64 {
	if k+1 == len(c.path) {
		return c.Size()
	}
	return c.refs[c.messages[c.path[k+1]].head].Start
}

func (c *conversation) message(k int) (*Message, error) {
	s := &c.messages[c.path[k]]
	m := newMessage(c.agent, s, c.contexts[s.context])
	for r := s.head; r >= 0; r = c.refs[r].next {
		v, err := c.Reader.At(c.refs[r].Place)
		if err != nil {
			return nil, err
		}
		c.agent.Say(v, m)
	}
	return m, nil
}

// A state is what must be known about a transcript to read additions to it.
type state struct {
	Session Session `json:"session"`
	Lines   int     `json:"lines"`
	Open    bool    `json:"open,omitempty"`  // the last line has no line end yet
	Calls   []byte  `json:"calls,omitempty"` // keys of the calls without a result
	Keys    []byte  `json:"keys,omitempty"`  // keys of groups, of Note.After and of queued prompts; the last ones
	Leaf    string  `json:"leaf,omitempty"`  // ID of the last record that has one
	Joins   bool    `json:"joins,omitempty"` // an answer without a group belongs to the last message
	About   bool    `json:"about,omitempty"` // a record of kind About belongs to the last message
}

// These constants limit the size of a state. An addition that refers to something older than the
// stored keys is not noticed; reading the whole transcript finds it.
const (
	maxStateCalls = 1000
	maxStateKeys  = 300
)

func (x *index) state() state {
	s := state{Session: x.session, Lines: x.Lines, Open: x.Open, Keys: x.keys, Leaf: x.leaf, Joins: x.answer >= 0, About: x.about >= 0}
	if x.End < x.Size() {
		s.Lines--
	}
	for _, id := range slices.Sorted(maps.Keys(x.unanswered)) {
		s.Calls = append(s.Calls, keyOf("call", id)...)
	}
	return s
}

func (s state) encode() string {
	s.Keys = s.Keys[max(0, len(s.Keys)-maxStateKeys*keySize):]
	data, err := json.Marshal(s)
	if err != nil || len(s.Calls) > maxStateCalls*keySize || bytes.Contains(data, []byte(`\ufffd`)) { // U+FFFD replaces bytes that are not UTF-8
		return ""
	}
	return string(data)
}

// grow reads the additions to a transcript, and reports whether they consist only of new messages.
func (a *Agent) grow(g format.Growth) (format.Grown, bool, error) {
	var s state
	if _, ok := a.sessionOf(g.Header); !ok || json.Unmarshal([]byte(g.State), &s) != nil {
		return format.Grown{}, false, nil
	}
	if s.Open && len(g.Data) > 0 && g.Data[0] != '\n' && g.Data[0] != '\r' {
		return format.Grown{}, false, nil
	}
	f := format.File{Path: g.Path, Content: bytes.NewReader(g.Data), Size: int64(len(g.Data))}
	x := newIndex(a, f)
	x.before, x.session, x.Lines, x.leaf = &s, s.Session, s.Lines, s.Leaf
	x.contexts[0] = s.Session.Context
	if s.Open { // the open line was counted already
		x.Lines--
	}
	if err := x.read(); err != nil {
		return format.Grown{}, false, err
	}
	if x.again || x.Unsure || len(x.ends) > 0 || x.session.ID != s.Session.ID || x.session.Sub != s.Session.Sub {
		return format.Grown{}, false, nil
	}
	main, _ := x.paths()
	added, err := format.Stream{Messages: &conversation{x, main}}.Document()
	if err != nil {
		return format.Grown{}, false, err
	}
	next := x.state()
	next.Keys = append(slices.Clone(s.Keys), x.keys...)
	next.Calls = append(slices.Clone(s.Calls), next.Calls...)
	if len(x.messages) == 0 {
		next.Joins, next.About = s.Joins && !x.closed, s.About
	}
	if x.End == 0 {
		next.Open = s.Open
	}
	return format.Grown{Messages: added.Conversation, Header: a.merged(g.Header, s.Session, x.session), Damage: x.Reports(), State: next.encode(), Read: x.End}, true, nil
}
