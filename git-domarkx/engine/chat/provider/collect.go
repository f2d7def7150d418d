package provider

import (
	"bytes"
	"encoding/json"
	"strings"
)

// MaxAnswer limits the text, reasoning and arguments of one answer together, in bytes.
const MaxAnswer = 16 << 20

// A Collector puts an answer together from what a wire reads, and passes it on for display.
type Collector struct {
	emit    func(Event)
	answer  Answer
	text    strings.Builder // of the last part, unless it is a call
	thought bool            // that part is a thought
	size    int
}

// NewCollector returns a collector that calls emit for each piece.
func NewCollector(emit func(Event)) *Collector { return &Collector{emit: emit} }

// Text continues the text.
func (c *Collector) Text(s string) error { return c.add(s, false, TextDelta(s)) }

// Thought continues the visible reasoning.
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

// Break ends the current part: the next text begins a new one.
func (c *Collector) Break() {
	if c.text.Len() == 0 {
		return
	}
	if c.thought {
		c.answer.Parts = append(c.answer.Parts, Thought{c.text.String()})
	} else {
		c.answer.Parts = append(c.answer.Parts, Text{c.text.String()})
	}
	c.text.Reset()
}

// Call adds a complete call, whose size was counted by [Collector.Grow].
func (c *Collector) Call(call Call) {
	c.Break()
	c.answer.Parts = append(c.answer.Parts, call)
	c.emit(call)
}

// Grow counts bytes of the answer. It fails with ErrTooLarge when there are too many.
func (c *Collector) Grow(n int) error {
	if c.size += n; c.size > MaxAnswer {
		return &Error{Kind: ErrTooLarge}
	}
	return nil
}

// Model sets the name of the model, as the provider reports it.
func (c *Collector) Model(name string) {
	if name != "" {
		c.answer.Model = name
	}
}

// Usage sets the tokens of the answer.
func (c *Collector) Usage(u Usage) { c.answer.Usage = u }

// Stop sets why the answer ended, and the provider's word for it.
func (c *Collector) Stop(s Stop, reported string) { c.answer.Stop, c.answer.Reported = s, reported }

// Finish returns the answer: with its raw items if err is nil, else with what came before the
// error.
func (c *Collector) Finish(o Origin, items [][]byte, err error) (Answer, error) {
	c.Break()
	if err == nil && len(items) > 0 {
		c.answer.Raw = &Raw{Origin: o, Items: items}
	}
	if c.answer.Stop == StopEnd && len(c.answer.Calls()) > 0 {
		c.answer.Stop = StopTools // some servers report every end alike
	}
	return c.answer, err
}

// A Member is a member of a JSON object.
type Member struct {
	Name  string
	Value json.RawMessage // as written
	start int             // offset of the value
}

// Members returns the members of a JSON object in order, with their values as written.
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

// Fields returns the members of a JSON object by their names. It is an error if two members have names
// that some decoder takes for the same.
func Fields(object []byte) (map[string]json.RawMessage, error) {
	members, err := Members(object)
	if err != nil {
		return nil, err
	}
	fields, folded := map[string]json.RawMessage{}, map[string]bool{}
	for _, m := range members {
		if fold := strings.ToLower(m.Name); folded[fold] {
			return nil, &Error{Kind: ErrAnswer, Message: "the member " + m.Name + " is there twice"}
		} else {
			folded[fold] = true
		}
		fields[m.Name] = m.Value
	}
	return fields, nil
}

// Strings decodes members that are strings; null and missing ones are empty.
func Strings(fields map[string]json.RawMessage, into map[string]*string) error {
	for name, s := range into {
		if v, ok := fields[name]; ok && json.Unmarshal(v, s) != nil {
			return &Error{Kind: ErrAnswer, Message: "the member " + name + " is no string"}
		}
	}
	return nil
}

// SetMember returns a JSON object in which a member has another value. All other bytes remain. A
// member that is missing is added at the end.
func SetMember(object []byte, name string, value []byte) ([]byte, error) {
	members, err := Members(object)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Name == name {
			return splice(object, m.start, m.start+len(m.Value), value), nil
		}
	}
	end := bytes.LastIndexByte(object, '}')
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	added := append(append(quoted, ':'), value...)
	if len(members) > 0 {
		added = append([]byte{','}, added...)
	}
	return splice(object, end, end, added), nil
}

func splice(b []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(b)-(to-from)+len(with))
	out = append(out, b[:from]...)
	out = append(out, with...)
	return append(out, b[to:]...)
}

// A RawText concatenates JSON strings without decoding them, so that every escape stays as the
// provider wrote it, and surrogate pairs that are split between two strings are joined.
type RawText struct{ b []byte }

// Add appends a JSON string with its quotes. Anything else is ignored.
func (t *RawText) Add(quoted string) {
	if len(quoted) >= 2 && quoted[0] == '"' && quoted[len(quoted)-1] == '"' {
		t.b = append(t.b, quoted[1:len(quoted)-1]...)
	}
}

// Len returns the number of bytes between the quotes.
func (t *RawText) Len() int { return len(t.b) }

// Quoted returns the JSON string.
func (t *RawText) Quoted() []byte {
	return append(append([]byte{'"'}, t.b...), '"')
}

// Text returns the decoded text.
func (t *RawText) Text() string {
	var s string
	_ = json.Unmarshal(t.Quoted(), &s) // each piece was a valid JSON string
	return s
}

// Join returns a JSON array of values as they are.
func Join(values [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte(","))...), ']')
}

// OnlyText returns the text of a message that has one text and nothing else, as most messages of a
// long conversation do.
func OnlyText(m Message) (text string, ok bool) {
	if m.Raw != nil || len(m.Parts) != 1 {
		return "", false
	}
	t, ok := m.Parts[0].(Text)
	return t.Text, ok
}
