package pi

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// An original is the conversation of a transcript that a session was imported from: the path through
// its tree of entries, and the messages on that path.
type original struct {
	*jsonlines.Reader
	header   jsonvalue.Value
	first    string // its first prompt
	way      []line
	at       map[string]int // index on the path of each entry, by the entry's ID
	results  map[string]int // index on the path of each result, by the ID of its call
	messages format.Messages
	heads    map[string]int // number of the message that an entry begins, by the entry's ID
}

// A line is an entry in the file.
type line struct {
	jsonlines.Place
	id    string
	call  string // of a result
	above int    // index of the previous line on its path; -1 for none
}

// A tree holds the entries of a transcript.
type tree struct {
	*jsonlines.Reader
	header jsonvalue.Value
	lines  []line
	byID   map[string]int // index of each entry in lines, by its ID
}

// withOriginal calls write with the original of a session, or with nil if there is none. Of several
// conversations in a transcript, it is the first one that has the last message of the session. The front
// matter does not decide it, because that of a fork of a branch names no branch.
func withOriginal(messages format.Messages, to format.Target, write func(o *original) error) error {
	read := false
	if to.Original != nil && to.New == nil {
		err := to.Original(func(f format.File) error {
			t, err := newTree(f)
			if err != nil {
				return err
			}
			last, err := t.last(messages)
			if err != nil {
				return err
			}
			for s, err := range transcript.Codec(agent()).Open(f) {
				if err != nil {
					return err
				}
				fork := transcript.Text(s.Header.Meta(), keyFork)
				if !t.leads(fork, last) {
					continue
				}
				o, err := newOriginal(t, s, fork)
				if err != nil {
					return err
				}
				read = true
				return write(o)
			}
			return nil
		})
		if read || err != nil {
			return err
		}
	}
	return write(nil)
}

func newTree(f format.File) (*tree, error) {
	t := &tree{Reader: jsonlines.NewReader(f, nil), byID: map[string]int{}}
	err := t.Each(func(v jsonvalue.Value, _ []byte, at jsonlines.Place) error {
		if isHeader(v) {
			if t.header.Kind() == jsonvalue.Null {
				t.header, _ = jsonvalue.ParseValue([]byte(v.JSON())) // the bytes of v are reused
			}
			return nil
		}
		l := line{at, strings.Clone(idOf(v)), "", -1}
		if e := entryOf(v); e.kind == result {
			l.call = strings.Clone(transcript.Text(e.body, "toolCallId"))
		}
		parent := transcript.Text(v, "parentId")
		if above, ok := t.byID[parent]; ok {
			l.above = above
		} else if !transcript.Has(v, "id") || parent != "" && len(t.Reports()) > 0 {
			l.above = len(t.lines) - 1
		}
		t.byID[l.id] = len(t.lines)
		t.lines = append(t.lines, l)
		return nil
	})
	return t, err
}

// last returns the entry of the last message that has one in the transcript; "" if none has.
func (t *tree) last(messages format.Messages) (string, error) {
	for k := messages.Len() - 1; k >= 0; k-- {
		m, err := messages.At(k)
		if err != nil {
			return "", err
		}
		id := transcript.Text(m.Meta(), "id")
		if _, ok := t.byID[id]; ok {
			return id, nil
		}
	}
	return "", nil
}

// end returns the index of the entry with which a conversation ends: the one called fork, or the last
// one of the transcript; -1 if there is none.
func (t *tree) end(fork string) int {
	if k, ok := t.byID[fork]; ok {
		return k
	}
	return len(t.lines) - 1
}

// leads reports whether an entry is on the path to the end of a conversation. The entry "" is on every
// path.
func (t *tree) leads(fork, id string) bool {
	k := t.end(fork)
	for k >= 0 && id != "" && t.lines[k].id != id {
		k = t.lines[k].above
	}
	return id == "" || k >= 0
}

// newOriginal returns the conversation s of a transcript, which ends with the entry called fork.
func newOriginal(t *tree, s format.Stream, fork string) (*original, error) {
	o := &original{Reader: t.Reader, header: t.header, messages: s.Messages,
		at: map[string]int{}, results: map[string]int{}, heads: map[string]int{}}
	for k := t.end(fork); k >= 0; k = t.lines[k].above {
		o.way = append(o.way, t.lines[k])
	}
	slices.Reverse(o.way)
	for i, l := range o.way {
		o.at[l.id] = i
		if l.call != "" {
			o.results[l.call] = i
		}
	}
	for k := range o.messages.Len() {
		m, err := o.messages.At(k)
		if err != nil {
			return nil, err
		}
		if o.first == "" {
			o.first = promptOf(m.Message)
		}
		o.heads[transcript.Text(m.Meta(), "id")] = k
	}
	return o, nil
}

// promptOf returns the text that the user typed in a message, on one line.
func promptOf(m domarkx.Message) string {
	if m.Role != domarkx.User || len(m.Content) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(m.Content[0].Text), " ")
}
