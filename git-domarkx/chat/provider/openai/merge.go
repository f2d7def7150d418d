package openai

import (
	"bytes"
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// An object is a JSON object that arrives in pieces. A member that arrives once keeps its bytes. If
// a member arrives again, strings and arrays are concatenated, objects are merged, other values are
// replaced, and null is ignored. Names and ids arrive whole, and the first one stays. The work for a piece does not depend on what arrived before it.
type object struct {
	entries []*entry
	named   map[string]*entry
}

type entry struct {
	name   string
	value  []byte  // JSON, which nothing else refers to; unused if object is set
	object *object // for an object that arrived more than once
}

func (o *object) set(name string, value []byte) {
	e := o.named[name]
	if e == nil {
		e = &entry{name: name}
		o.entries = append(o.entries, e)
		if o.named == nil {
			o.named = map[string]*entry{}
		}
		o.named[name] = e
	}
	e.value, e.object = value, nil
}

// add adds a piece of a member. It returns by how many bytes the object grew at most.
func (o *object) add(name string, value []byte) (grown int) {
	e := o.named[name]
	switch was := e.kind(); {
	case e == nil:
		o.set(name, value)
		return len(name) + len(value)
	case string(value) == "null":
		return 0
	case was == '"' && (name == "id" || name == "type" || name == "name" || name == "role"):
		return 0
	case was == '"' && kind(value) == '"':
		e.value = provider.Extend(e.value, value)
	case was == '[' && kind(value) == '[':
		e.value = joinArrays(e.value, value)
	case was == '{' && kind(value) == '{':
		return e.merge(value)
	default:
		before := len(e.value)
		o.set(name, value)
		return max(0, len(value)-before)
	}
	return len(value)
}

// kind returns the first byte of the value, or 0 if there is none.
func (e *entry) kind() byte {
	switch {
	case e == nil:
		return 0
	case e.object != nil:
		return '{'
	}
	return kind(e.value)
}

func kind(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0] // the decoder removes white space before a value
}

// joinArrays appends the values of array b to array a, whose memory it uses.
func joinArrays(a, b []byte) []byte {
	const space = " \t\r\n"
	head := bytes.TrimRight(a[:len(a)-1], space)
	rest := bytes.TrimLeft(b[1:], space) // with the bracket at its end
	if len(rest) > 1 && len(head) > 1 {
		head = append(head, ',')
	}
	return append(head, rest...)
}

// merge adds the members of an object. It returns by how many bytes the entry grew at most.
func (e *entry) merge(value []byte) (grown int) {
	if e.object == nil {
		whole := &object{}
		whole.addAll(e.value)
		e.value, e.object = nil, whole
	}
	return e.object.addAll(value)
}

func (o *object) addAll(value []byte) (grown int) {
	members, _ := provider.Members(value) // the decoder has checked the value
	for _, m := range members {
		grown += o.add(m.Name, m.Value)
	}
	return grown
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
		if e.object != nil {
			out.Write(e.object.bytes())
		}
		out.Write(e.value)
	}
	out.WriteByte('}')
	return out.Bytes()
}
