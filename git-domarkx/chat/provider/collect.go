package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// MaxAnswer is the maximum size in bytes of an answer's text, reasoning, arguments and other
// content together.
const MaxAnswer = 16 << 20

// A Collector assembles an answer from the pieces that a wire receives, and emits them for display.
type Collector struct {
	Answer
	emit    func(Event)
	text    strings.Builder // the last part, if it is not a call
	thought bool            // the last part is a thought
	size    int
}

// NewCollector returns a collector that calls emit for each piece.
func NewCollector(emit func(Event)) *Collector { return &Collector{emit: emit} }

// Text appends a piece of the text.
func (c *Collector) Text(s string) error { return c.add(s, false, TextDelta(s)) }

// Thought appends a piece of the visible reasoning.
func (c *Collector) Thought(s string) error { return c.add(s, true, ThoughtDelta(s)) }

func (c *Collector) add(s string, thought bool, e Event) error {
	if s == "" {
		return nil
	}
	if c.thought != thought {
		c.Break()
	}
	c.thought = thought
	c.text.WriteString(s)
	c.emit(e)
	return c.Grow(len(s))
}

// Break ends the current part: the next piece begins a new one.
func (c *Collector) Break() {
	if c.text.Len() == 0 {
		return
	}
	if c.thought {
		c.Parts = append(c.Parts, Thought{c.text.String()})
	} else {
		c.Parts = append(c.Parts, Text{c.text.String()})
	}
	c.text.Reset()
}

// Call adds a complete call. [Collector.Grow] must have counted its size.
func (c *Collector) Call(call Call) {
	c.Break()
	c.Parts = append(c.Parts, call)
	c.emit(call)
}

// Grow adds n bytes to the size of the answer. The error is [ErrTooLarge] if the answer exceeds
// [MaxAnswer].
func (c *Collector) Grow(n int) error {
	if c.size += n; c.size > MaxAnswer {
		return &Error{Kind: ErrTooLarge}
	}
	return nil
}

// PartsOf returns the content of raw items. add adds one item to an answer.
func PartsOf(items [][]byte, add func(c *Collector, item []byte) error) ([]Part, error) {
	c := NewCollector(func(Event) {})
	for _, item := range items {
		if err := add(c, item); err != nil {
			return nil, err
		}
	}
	c.Break()
	return c.Parts, nil
}

// A Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage // JSON as received
	start int             // offset of Value in the object
}

// Members returns the members of a JSON object in order, with their values unchanged. The error
// matches [ErrAnswer] if it is not a JSON object.
func Members(object []byte) ([]Member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, &Error{Kind: ErrAnswer, Message: "expected a JSON object"}
	}
	var members []Member
	for dec.More() {
		var m Member
		name, err := dec.Token()
		if err == nil {
			m.Name, _ = name.(string)
			err = dec.Decode(&m.Value)
		}
		if err != nil {
			return nil, &Error{Kind: ErrAnswer, Message: err.Error()}
		}
		m.start = int(dec.InputOffset()) - len(m.Value)
		members = append(members, m)
	}
	return members, nil
}

// A Strict is decoded from a JSON object in which no two names differ at most in case, because decoders differ in
// which one they choose.
type Strict[T any] struct{ V T }

// UnmarshalJSON implements [json.Unmarshaler].
func (s *Strict[T]) UnmarshalJSON(object []byte) error {
	members, err := Members(object)
	if err != nil {
		return err
	}
	folded := map[string]bool{}
	for _, m := range members {
		fold := strings.Map(foldRune, m.Name)
		if folded[fold] {
			return &Error{Kind: ErrAnswer, Message: "the member " + m.Name + " is there twice"}
		}
		folded[fold] = true
	}
	return json.Unmarshal(object, &s.V)
}

// foldRune returns one letter for all that package json regards as equal in names.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}

// SetMember replaces the value of a member in a JSON object and leaves all other bytes unchanged.
// It appends a missing member.
func SetMember(object []byte, name string, value []byte) ([]byte, error) {
	members, err := Members(object)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Name == name {
			return slices.Concat(object[:m.start], value, object[m.start+len(m.Value):]), nil
		}
	}
	end := bytes.LastIndexByte(object, '}')
	comma := ","
	if len(members) == 0 {
		comma = ""
	}
	return slices.Concat(object[:end], fmt.Appendf(nil, "%s%q:%s", comma, name, value), object[end:]), nil
}

// Extend appends a JSON string to another one, whose memory it uses, without decoding them. This preserves the provider's
// escapes, and surrogate pairs that are split between two strings. It ignores anything but strings.
func Extend(text, more []byte) []byte {
	if len(more) < 2 || more[0] != '"' {
		return text
	}
	return append(text[:len(text)-1], more[1:]...)
}

// TextOf returns the text of a JSON string, and "" for anything else.
func TextOf(value []byte) string {
	var s string
	_ = json.Unmarshal(value, &s)
	return s
}
