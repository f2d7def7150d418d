// Package jsontext edits files of JSON with comments: all that is not edited keeps its bytes, with
// comments, order, indentation and trailing commas. It adds to hujson, which parses and packs such
// files, edits in the style of the file.
package jsontext

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// An Edit is a text that is being edited.
type Edit struct {
	mark string // the byte order mark, if there is one
	data []byte // without the mark
	root hujson.Value
}

// Bytes returns the text.
func (e *Edit) Bytes() []byte { return append([]byte(e.mark), e.data...) }

// Get returns the value at a path of names, or nil. An edit makes it invalid.
func (e *Edit) Get(path ...string) *hujson.Value {
	v := &e.root
	for _, name := range path {
		v = Member(v, name)
	}
	return v
}

// Set adds a member, or replaces its value. Missing objects on the way are created.
func (e *Edit) Set(value jsonvalue.Value, path ...string) error {
	at := &e.root
	for i, name := range path {
		if at.Value.Kind() != '{' {
			return e.errorAt(at.StartOffset, "expected an object at %s", strings.Join(path[:i], "."))
		}
		next := Member(at, name)
		if next == nil {
			for _, inner := range slices.Backward(path[i+1:]) {
				value = jsonvalue.ObjectValue(jsonvalue.Member{Name: inner, Value: value})
			}
			return e.insert(at, name, value)
		}
		at = next
	}
	return e.Replace(at, value)
}

// Append adds an item to the array at a path. A missing array, and missing objects on the way,
// are created.
func (e *Edit) Append(value jsonvalue.Value, path ...string) error {
	v := e.Get(path...)
	if v == nil {
		return e.Set(jsonvalue.ArrayValue(value), path...)
	}
	if v.Value.Kind() != '[' {
		return e.errorAt(v.StartOffset, "expected an array at %s", strings.Join(path, "."))
	}
	return e.insert(v, "", value)
}

// Replace replaces a value.
func (e *Edit) Replace(v *hujson.Value, value jsonvalue.Value) (err error) {
	v.Value, err = parsed(e.inLines(value, e.indentAt(v.StartOffset)))
	e.pack()
	return err
}

// Remove removes the member at a path, with the comma that separates it.
func (e *Edit) Remove(path ...string) {
	name := path[len(path)-1]
	parent := e.Get(path[:len(path)-1]...)
	if i := slices.Index(Names(parent), name); i >= 0 {
		e.RemovePart(parent, i)
	}
}

// insert adds a member or an item at the end of a container.
func (e *Edit) insert(in *hujson.Value, name string, value jsonvalue.Value) error {
	p := partsOf(in)
	solid := bytes.TrimRight(*p.after, space)
	tail := (*p.after)[len(solid):]
	outer := e.indentAt(in.StartOffset)
	inner, before := outer+e.unit(), " "
	if len(p.starts) > 0 {
		if own, begins := e.lineIndent(p.starts[0]); begins {
			inner = own
		}
	}
	text := inOneLine(value)
	if len(p.values) == 0 || bytes.IndexByte(tail, '\n') >= 0 {
		text, before = e.inLines(value, inner), e.newline()+inner
		if bytes.IndexByte(tail, '\n') < 0 {
			tail = append([]byte(e.newline()+outer), tail...)
		}
	}
	added, err := parsed(text)
	if err != nil {
		return err
	}
	item := hujson.Value{Value: added}
	if n := len(p.values); n > 0 && p.values[n-1].AfterExtra != nil {
		item.AfterExtra = []byte{} // a comma
	}
	extra := append(bytes.Clone(solid), before...)
	*p.after = tail
	switch c := in.Value.(type) {
	case *hujson.Object:
		item.BeforeExtra = []byte(" ")
		quoted := hujson.Literal(jsonvalue.StringValue(name).JSON())
		c.Members = append(c.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: extra, Value: quoted}, Value: item})
	case *hujson.Array:
		item.BeforeExtra = extra
		c.Elements = append(c.Elements, item)
	}
	e.pack()
	return nil
}

// RemovePart removes a member of an object or an item of an array, with its comma. It exactly
// reverts the insertion, unless the container was empty before.
func (e *Edit) RemovePart(in *hujson.Value, i int) {
	p := partsOf(in)
	last := len(p.values) - 1
	solid := bytes.TrimRight(*p.befores[i], space)
	blank := (*p.befores[i])[len(solid):]
	next := p.after
	if i < last {
		next = p.befores[i+1]
	}
	behind := *next
	if gone := p.values[i].AfterExtra; len(bytes.TrimSpace(gone)) > 0 { // a comment between the value and the comma stays
		behind = slices.Concat(gone, behind)
	}
	first, _, ends := bytes.Cut(behind, []byte{'\n'})
	ends = ends && len(bytes.TrimSpace(first)) == 0
	if line := bytes.LastIndexByte(blank, '\n') + 1; !ends && i+len(solid) > 0 {
		solid = append(bytes.Clone(solid), blank[:line]...) // what is behind must not become part of a comment on the line before
	}
	rest := slices.Concat(solid, behind)
	switch {
	case last == 0 && len(solid) == 0 && len(bytes.TrimSpace(rest)) == 0:
		rest = nil
	case i == last && i > 0 && p.values[i].AfterExtra == nil: // so the part before has no comma any more
		rest = slices.Concat(p.values[i-1].AfterExtra, rest)
		p.values[i-1].AfterExtra = nil
	case i == last && i > 0 && p.values[i-1].AfterExtra == nil:
		p.values[i-1].AfterExtra = []byte{} // a comma
	}
	*next = rest
	switch c := in.Value.(type) {
	case *hujson.Object:
		c.Members = slices.Delete(c.Members, i, i+1)
	case *hujson.Array:
		c.Elements = slices.Delete(c.Elements, i, i+1)
	}
	e.pack()
}

// pack makes the text and all positions anew.
func (e *Edit) pack() {
	e.data = e.root.Pack()
	e.root.UpdateOffsets()
}

const space = " \t\r\n"

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
	if starts := partsOf(&e.root).starts; len(starts) > 0 {
		own, begins := e.lineIndent(starts[0])
		if outer := e.indentAt(e.root.StartOffset); begins && len(own) > len(outer) && strings.HasPrefix(own, outer) {
			return own[len(outer):]
		}
	}
	return "  "
}

// inLines returns the text of a value that begins in a line with an indentation.
func (e *Edit) inLines(value jsonvalue.Value, indent string) string {
	return strings.ReplaceAll(string(value.AppendJSON(nil, indent, e.unit())), "\n", e.newline())
}

// inOneLine returns the text of a value in one line. JSON has no line ends and tabs within strings.
func inOneLine(value jsonvalue.Value) string {
	return strings.NewReplacer(",\n", ", ", "\n", "", "\t", "").Replace(string(value.AppendJSON(nil, "", "\t")))
}
