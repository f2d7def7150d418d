package pi

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonlines"
	"github.com/domarkx/domarkx/format/transcript"
)

// An original is the conversation of a transcript that a session was imported from: the path through
// its tree of entries, and the messages on that path.
type original struct {
	*jsonlines.Reader
	header   domarkx.Value
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

// withOriginal calls write with the original of a session, or with nil if there is none.
func withOriginal(h domarkx.Header, to format.Target, write func(o *original) error) error {
	read := false
	if to.Original != nil && to.New == nil {
		err := to.Original(func(f format.File) error {
			fork := ""
			if h.UserMetadata != nil {
				fork = transcript.Text(*h.UserMetadata, keyFork)
			}
			for s, err := range transcript.Codec(agent()).Open(f) {
				if err != nil {
					return err
				}
				if transcript.Text(*s.Header.UserMetadata, keyFork) != fork {
					continue
				}
				o, err := newOriginal(f, s, fork)
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

func newOriginal(f format.File, s format.Stream, fork string) (*original, error) {
	o := &original{Reader: jsonlines.NewReader(f, nil), messages: s.Messages,
		at: map[string]int{}, results: map[string]int{}, heads: map[string]int{}}
	var lines []line
	byID := map[string]int{}
	err := o.Each(func(v domarkx.Value, _ []byte, at jsonlines.Place) error {
		if isHeader(v) {
			if o.header.Kind() == domarkx.Null {
				o.header, _ = domarkx.ParseValue([]byte(v.JSON())) // the bytes of v are reused
			}
			return nil
		}
		l := line{at, strings.Clone(idOf(v)), "", -1}
		if e := entryOf(v); e.kind == result {
			l.call = strings.Clone(transcript.Text(e.body, "toolCallId"))
		}
		parent := transcript.Text(v, "parentId")
		if above, ok := byID[parent]; ok {
			l.above = above
		} else if !transcript.Has(v, "id") || parent != "" && len(o.Reports()) > 0 {
			l.above = len(lines) - 1
		}
		byID[l.id] = len(lines)
		lines = append(lines, l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	k := len(lines) - 1
	if end, ok := byID[fork]; ok {
		k = end
	}
	for ; k >= 0; k = lines[k].above {
		o.way = append(o.way, lines[k])
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
		o.heads[transcript.Text(*m.Metadata, "id")] = k
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
