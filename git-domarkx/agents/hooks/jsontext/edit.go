package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// An Item is a value to write: a string, a number, a boolean, a list or a [Members].
type Item any

// Members are the members of an object to write, in this order.
type Members []Member

// A Member is a member to write.
type Member struct {
	Name  string
	Value Item
}

// An Edit is a text that is being edited.
type Edit struct {
	data []byte
	root *Value
}

// New returns an edit of a text, whose value must be an object. The error is a *[SyntaxError].
func New(data []byte) (*Edit, error) {
	e := &Edit{data: data}
	if err := e.parse(); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Edit) parse() error {
	root, err := Parse(e.data)
	if err != nil {
		return err
	}
	if root.Kind != Object {
		return errorAt(e.data, root.Start, "expected an object")
	}
	e.root = root
	return nil
}

// Bytes returns the text.
func (e *Edit) Bytes() []byte { return e.data }

// Get returns the value at a path of names, or nil.
func (e *Edit) Get(path ...string) *Value {
	v := e.root
	for _, name := range path {
		v = v.Get(name)
	}
	return v
}

// Set adds a member, or replaces its value. Missing objects on the way are created.
func (e *Edit) Set(value Item, path ...string) error {
	parent, rest, err := e.deepest(path)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		v := e.Get(path...)
		return e.splice(v.Start, v.End, e.render(value, e.indentAt(v.Start)))
	}
	for len(rest) > 1 {
		value = Members{{rest[len(rest)-1], value}}
		rest = rest[:len(rest)-1]
	}
	return e.insert(parent, rest[0], value)
}

// Append adds an item to the array at a path. A missing array, and missing objects on the way,
// are created.
func (e *Edit) Append(value Item, path ...string) error {
	v := e.Get(path...)
	if v == nil {
		return e.Set([]Item{value}, path...)
	}
	if v.Kind != Array {
		return errorAt(e.data, v.Start, "expected an array at %s", strings.Join(path, "."))
	}
	return e.insert(v, "", value)
}

// deepest returns the deepest object on a path that exists, and the names that are missing.
func (e *Edit) deepest(path []string) (*Value, []string, error) {
	at := e.root
	for i, name := range path {
		if at.Kind != Object {
			return nil, nil, errorAt(e.data, at.Start, "expected an object at %s", strings.Join(path[:i], "."))
		}
		next := at.Get(name)
		if next == nil {
			return at, path[i:], nil
		}
		at = next
	}
	return at, nil, nil
}

// insert adds a member or an item at the end of a container.
func (e *Edit) insert(in *Value, name string, value Item) error {
	closing := in.End - 1
	last := e.contentEnd(in) // only white space follows up to the closing bracket
	isLine := len(in.parts) == 0 || bytes.IndexByte(e.data[last:closing], '\n') >= 0
	outer := e.indentAt(in.Start)
	inner := outer + e.unit()
	if len(in.parts) > 0 {
		first := in.parts[0].start
		if own, begins := e.lineIndent(first); begins {
			inner = own
		}
	}
	text := ""
	if name != "" || in.Kind == Object {
		text = quote(name) + ": "
	}
	before, after := " ", ""
	if isLine {
		before = e.newline() + inner
		text += e.render(value, inner)
		if bytes.IndexByte(e.data[last:closing], '\n') < 0 {
			after = e.newline() + outer
		}
	} else {
		text += compact(value)
	}
	text = before + text
	comma := -1
	if n := len(in.parts); n > 0 {
		if in.parts[n-1].comma >= 0 {
			text += ","
		} else {
			comma = in.parts[n-1].value.End
		}
	}
	data := bytes.Clone(e.data[:last])
	if comma >= 0 {
		data = append(append(bytes.Clone(e.data[:comma]), ','), e.data[comma:last]...)
	}
	data = append(append(data, text+after...), e.data[last:]...)
	e.data = data
	return e.parse()
}

// Remove removes the member at a path, with the comma that separates it.
func (e *Edit) Remove(path ...string) error {
	parent := e.Get(path[:len(path)-1]...)
	if parent == nil || parent.Kind != Object {
		return nil
	}
	for i, m := range parent.parts {
		if m.name == path[len(path)-1] {
			return e.cut(parent, i)
		}
	}
	return nil
}

// RemoveItem removes an item of the array at a path.
func (e *Edit) RemoveItem(i int, path ...string) error {
	array := e.Get(path...)
	if array == nil || array.Kind != Array || i >= len(array.parts) {
		return nil
	}
	return e.cut(array, i)
}

// RemoveAt removes an item of an array.
func (e *Edit) RemoveAt(array *Value, i int) error { return e.cut(array, i) }

// cut removes part i of a container, with its comma. It exactly reverts insert, unless the
// container was empty before.
func (e *Edit) cut(in *Value, i int) error {
	m := in.parts[i]
	start, end := e.solidBefore(m.start), m.value.End
	type span struct{ from, to int }
	cuts := []span{{start, end}}
	switch {
	case m.comma >= 0:
		if len(bytes.TrimSpace(e.data[end:m.comma])) == 0 {
			cuts[0].to = m.comma + 1
		} else {
			cuts = append(cuts, span{m.comma, m.comma + 1}) // a comment between the value and the comma stays
		}
	case i > 0:
		comma := in.parts[i-1].comma
		cuts = []span{{comma, comma + 1}, {max(start, comma+1), end}}
	}
	if len(in.parts) == 1 && start == in.Start+1 && len(bytes.TrimSpace(e.data[cuts[len(cuts)-1].to:in.End-1])) == 0 {
		cuts = []span{{start, in.End - 1}} // nothing else is inside
	}
	line := bytes.LastIndexByte(e.data[:m.start], '\n') + 1
	for i, c := range cuts { // the text after the cut must not become part of a comment on the line before
		if c.from == start && line > start && start > in.Start+1 && !e.endsLine(c.to) {
			cuts[i].from = line
		}
	}
	var data []byte
	at := 0
	for _, c := range cuts {
		data = append(data, e.data[at:c.from]...)
		at = c.to
	}
	e.data = append(data, e.data[at:]...)
	return e.parse()
}

// IsBare reports whether a container has no parts and no comments.
func (e *Edit) IsBare(v *Value) bool {
	return v != nil && (v.Kind == Object || v.Kind == Array) && len(bytes.TrimSpace(e.data[v.Start+1:v.End-1])) == 0
}

func (e *Edit) splice(start, end int, text string) error {
	e.data = append(append(bytes.Clone(e.data[:start]), text...), e.data[end:]...)
	return e.parse()
}

// contentEnd returns where the last part, comma or comment of a container ends.
func (e *Edit) contentEnd(in *Value) int { return max(e.solidBefore(in.End-1), in.Start+1) }

// solidBefore returns the end of the last character before at that is not white space.
func (e *Edit) solidBefore(at int) int { return len(bytes.TrimRight(e.data[:at], " \t\r\n")) }

// endsLine reports whether only white space follows at up to the end of the line.
func (e *Edit) endsLine(at int) bool {
	line, _, more := bytes.Cut(e.data[at:], []byte{'\n'})
	return more && len(bytes.TrimSpace(line)) == 0
}

// newline returns how lines of the text end.
func (e *Edit) newline() string {
	if i := bytes.IndexByte(e.data, '\n'); i > 0 && e.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineIndent returns the white space at the beginning of a line, and whether only that stands
// before a place in it.
func (e *Edit) lineIndent(at int) (string, bool) {
	line := e.data[bytes.LastIndexByte(e.data[:at], '\n')+1 : at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// indentAt returns the indentation of the line at a place.
func (e *Edit) indentAt(at int) string {
	indent, _ := e.lineIndent(at)
	return indent
}

// unit returns the indentation of one level: that of the first member, or two spaces.
func (e *Edit) unit() string {
	if len(e.root.parts) > 0 {
		own, begins := e.lineIndent(e.root.parts[0].start)
		if outer := e.indentAt(e.root.Start); begins && len(own) > len(outer) && strings.HasPrefix(own, outer) {
			return own[len(outer):]
		}
	}
	return "  "
}

// render returns the text of a value that begins in a line with an indentation.
func (e *Edit) render(value Item, indent string) string {
	inner, nl := indent+e.unit(), e.newline()
	var parts []string
	open, closing := "[", "]"
	switch v := value.(type) {
	case Members:
		open, closing = "{", "}"
		for _, m := range v {
			parts = append(parts, quote(m.Name)+": "+e.render(m.Value, inner))
		}
	case []Item:
		for _, item := range v {
			parts = append(parts, e.render(item, inner))
		}
	default:
		return compact(value)
	}
	if len(parts) == 0 {
		return open + closing
	}
	return open + nl + inner + strings.Join(parts, ","+nl+inner) + nl + indent + closing
}

// compact returns the text of a value in one line.
func compact(value Item) string {
	var parts []string
	switch v := value.(type) {
	case Members:
		for _, m := range v {
			parts = append(parts, quote(m.Name)+": "+compact(m.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []Item:
		for _, item := range v {
			parts = append(parts, compact(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return quote(v)
	}
	return fmt.Sprint(value)
}

func quote(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil { // a string always has an encoding
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Replace replaces a value of the text as it is now.
func (e *Edit) Replace(v *Value, value Item) error {
	return e.splice(v.Start, v.End, e.render(value, e.indentAt(v.Start)))
}
