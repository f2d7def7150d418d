package pi

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/transcript"
)

// decode reads the conversation that pi would open: the one that ends with the transcript's last
// entry. Unreadable lines keep their place and are listed in the document's damage. A file that is
// not a transcript of pi is a [*domarkx.SyntaxError]; that of another agent or version is also
// [domarkx.ErrUnsupported].
func (c codec) decode(src format.Source) (*domarkx.Document, error) {
	for s, err := range c.open(format.File{Path: src.Path, Content: bytes.NewReader(src.Data), Size: int64(len(src.Data))}) {
		if err != nil {
			return nil, err
		}
		return s.Document()
	}
	panic("a transcript without a conversation of its own")
}

// open reads all conversations of a transcript. It reads the lines twice: first for the tree, then
// for the messages.
func (c codec) open(f format.File) iter.Seq2[format.Stream, error] {
	return func(yield func(format.Stream, error) bool) {
		l := newLines(f, c.schema, c.keep)
		err := l.readAll(f.Size)
		var main, forks []int32
		if err == nil {
			main, forks, err = l.ends()
		}
		if err != nil {
			yield(format.Stream{}, err)
			return
		}
		s, err := l.stream(main, "")
		s.Damage = l.reports()
		if !yield(s, err) || err != nil {
			return
		}
		names := map[string]int{}
		for _, i := range forks {
			s, err := l.fork(i, names)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// fork returns the conversation that ends with a node. Of several nodes of one name each
// gets another one.
func (l *lines) fork(i int32, names map[string]int) (format.Stream, error) {
	name, _, err := l.names(i)
	if err != nil {
		return format.Stream{}, err
	}
	for plain := name; names[name] > 0; name = plain + "-" + strconv.Itoa(names[plain]) {
		names[plain]++
	}
	names[name]++
	path, _ := l.trace(i)
	s, err := l.stream(path, name)
	s.Suffix, s.State, s.Read = ".fork-"+name, "", 0
	return s, err
}

// state is the knowledge about a transcript that reading its additions needs.
type state struct {
	Version int      `json:"version"`
	Lines   int      `json:"lines"`
	Open    bool     `json:"open,omitempty"`  // the last line has no line end yet
	Last    string   `json:"last"`            // the last entry
	Calls   []string `json:"calls,omitempty"` // those of the last assistant's message without a result
	HasTail bool     `json:"tail,omitempty"`  // an incomplete line follows the consumed part
}

// maxCalls bounds the state.
const maxCalls = 1000

// stream returns the session for a path through the tree. fork is the id of the entry at its end,
// or "" for the transcript's own session.
func (l *lines) stream(path []int32, fork string) (format.Stream, error) {
	b := l.newBranch(path, nil)
	about := l.header
	if fork != "" {
		about = about.With(keyFork, transcript.Str(fork))
	}
	about, err := b.named(about, "")
	if err != nil {
		return format.Stream{}, err
	}
	e, err := b.end(about, l.tail)
	s := format.Stream{Header: domarkx.NewHeader(), Messages: b}
	s.Header.UserMetadata = &e.about
	if err == nil && l.version != 1 && len(e.calls) <= maxCalls {
		s.State = state{Version: l.version, Lines: l.number - lineOf(l.tail), Open: l.open, Last: l.last, Calls: e.calls, HasTail: l.tail != ""}.encode()
		s.Read = l.consumed
	}
	return s, err
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

// grow reads the additions to a known transcript, and reports whether it only continues the
// conversation.
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
	l := newLines(format.File{Path: g.Path, Content: bytes.NewReader(data), Size: int64(len(data))}, c.schema, c.keep)
	l.number, l.version, l.header, l.last, l.seen = s.Lines, s.Version, about, s.Last, s.Last != ""
	if s.Open { // its line is counted already
		l.number--
	}
	if err := l.read(int64(len(data))); err != nil {
		return format.Grown{}, false, err
	}
	if only, err := l.continues(s); err != nil || !only {
		return format.Grown{}, false, err
	}
	before, _ := about.Get(keyAfter)
	lead := before.Items()
	if n := len(lead); n > 0 && s.HasTail {
		lead = lead[:n-1]
	}
	path := make([]int32, len(l.nodes))
	for i := range path {
		path[i] = int32(i)
	}
	return l.grown(l.newBranch(path, lead), s, g.Header)
}

// continues reports whether the new entries form a single sequence after the former last one, and
// none is a result for a call before them.
func (l *lines) continues(s state) (bool, error) {
	known := map[string]bool{}
	for _, id := range s.Calls {
		known[id] = true
	}
	last := key{}
	if s.Last != "" {
		last = keyOf(s.Last)
	}
	for i := range l.nodes {
		v, err := l.entry(int32(i))
		if err != nil {
			return false, err
		}
		message, _ := v.Get(keyMessage)
		if l.parents[i] != last || known[transcript.Text(message, keyToolCallID)] {
			return false, nil
		}
		last = l.ids[i]
	}
	return true, nil
}

// grown returns the additions to a transcript.
func (l *lines) grown(b *branch, s state, h domarkx.Header) (format.Grown, bool, error) {
	about, err := b.named(*h.UserMetadata, transcript.Text(*h.UserMetadata, keySessionName))
	if err != nil {
		return format.Grown{}, false, err
	}
	e, err := b.end(about.Without(keyAfter), l.tail)
	if err != nil {
		return format.Grown{}, false, err
	}
	h.UserMetadata = &e.about
	added, err := format.Stream{Messages: b}.Document()
	if err != nil {
		return format.Grown{}, false, err
	}
	next := state{Version: s.Version, Lines: l.number - lineOf(l.tail), Open: l.open, Last: l.last, Calls: e.calls, HasTail: l.tail != ""}
	if !e.answered {
		next.Calls = s.Calls
	}
	if l.consumed == 0 {
		next.Open = s.Open
	}
	return format.Grown{Messages: added.Conversation, Header: h, Damage: l.reports(), State: next.encode(), Read: l.consumed}, true, nil
}
