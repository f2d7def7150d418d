package openai

import (
	"bytes"
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// An object is a JSON object that arrives in pieces. A member that arrives once keeps its bytes. If
// a member arrives again, strings and arrays are concatenated, objects are merged, other values are
// replaced, and null is ignored.
type object struct{ entries []*entry }

type entry struct {
	name  string
	value []byte            // JSON; unused if text is set
	text  *provider.RawText // for a string
}

func (o *object) find(name string) *entry {
	for _, e := range o.entries {
		if e.name == name {
			return e
		}
	}
	return nil
}

func (o *object) setOnce(name string, value []byte) {
	if e := o.find(name); e == nil || e.text == nil && string(e.value) == "null" {
		o.set(name, value)
	}
}

func (o *object) set(name string, value []byte) {
	e := o.find(name)
	if e == nil {
		e = &entry{name: name}
		o.entries = append(o.entries, e)
	}
	e.value, e.text = value, nil
	if kind(value) == '"' {
		e.text = &provider.RawText{}
		e.text.Add(string(value))
	}
}

func (o *object) add(name string, value []byte) {
	e := o.find(name)
	switch {
	case e == nil:
		o.set(name, value)
	case string(value) == "null":
	case e.text != nil && kind(value) == '"':
		e.text.Add(string(value))
	case e.text == nil && kind(e.value) == '[' && kind(value) == '[':
		e.value = joinArrays(e.value, value)
	case e.text == nil && kind(e.value) == '{' && kind(value) == '{':
		e.value = mergeObjects(e.value, value)
	default:
		o.set(name, value)
	}
}

func kind(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0] // the decoder removes white space before a value
}

func joinArrays(a, b []byte) []byte {
	var first, second []json.RawMessage
	if json.Unmarshal(a, &first) != nil || json.Unmarshal(b, &second) != nil {
		return b
	}
	values := make([][]byte, 0, len(first)+len(second))
	for _, v := range append(first, second...) {
		values = append(values, v)
	}
	return provider.Join(values)
}

func mergeObjects(a, b []byte) []byte {
	var o object
	for _, part := range [][]byte{a, b} {
		members, err := provider.Members(part)
		if err != nil {
			return b
		}
		for _, m := range members {
			o.add(m.Name, m.Value)
		}
	}
	return o.bytes()
}

func (o *object) bytes() []byte {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, e := range o.entries {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(e.name)
		out.Write(name)
		out.WriteByte(':')
		if e.text != nil {
			out.Write(e.text.Quoted())
		} else {
			out.Write(e.value)
		}
	}
	out.WriteByte('}')
	return out.Bytes()
}
