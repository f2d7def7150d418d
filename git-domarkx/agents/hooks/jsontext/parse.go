// Package jsontext edits files of JSON with comments as text: what is not edited keeps its bytes,
// with comments, order, indentation and trailing commas.
package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// A Kind is the kind of a value.
type Kind byte

// The kinds of values.
const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	Other  Kind = 'x' // a number, a boolean or null
)

// A Value is a value in a text, with its place there.
type Value struct {
	Kind       Kind
	Start, End int    // of its text
	Text       string // of a string, decoded; of another scalar, as written

	parts []part // of an object or array
}

// A part is a member of an object or an item of an array.
type part struct {
	name  string // of a member
	start int    // where the name begins, or else the value
	value *Value
	comma int // where the comma behind it is; -1 for none
}

// A SyntaxError says where a text is wrong.
type SyntaxError struct {
	Line, Column int // from 1; Column counts characters
	Msg          string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// errorAt returns an error at a place of a text.
func errorAt(data []byte, at int, format string, args ...any) *SyntaxError {
	before := data[:min(at, len(data))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[line:]), fmt.Sprintf(format, args...)}
}

// maxDepth limits how deep values may be nested.
const maxDepth = 200

// Parse reads a text of one value. Comments and trailing commas are allowed, and a byte order
// mark. The error is a *[SyntaxError].
func Parse(data []byte) (*Value, error) {
	p := &parser{data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		p.at = 3
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	v, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(data) {
		return nil, p.fail("expected the end of the file")
	}
	return v, nil
}

type parser struct {
	data []byte
	at   int
}

func (p *parser) fail(format string, args ...any) error {
	return errorAt(p.data, p.at, format, args...)
}

// peek returns the next byte, or 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.at < len(p.data) {
		rest := p.data[p.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n':
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.at += n
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return p.fail("the comment does not end")
			}
			p.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) value(depth int) (*Value, error) {
	if depth > maxDepth {
		return nil, p.fail("values are nested more than %d deep", maxDepth)
	}
	v := &Value{Start: p.at}
	var err error
	switch c := p.peek(); {
	case c == '{' || c == '[':
		v.Kind = Kind(c)
		err = p.parts(v, depth)
	case c == '"':
		v.Kind = String
		v.Text, err = p.text()
	default:
		v.Kind = Other
		err = p.scalar()
		v.Text = string(p.data[v.Start:p.at])
	}
	v.End = p.at
	return v, err
}

// parts reads an object or array.
func (p *parser) parts(v *Value, depth int) error {
	closing := byte('}')
	if v.Kind == Array {
		closing = ']'
	}
	names := map[string]bool{}
	p.at++
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == closing {
			p.at++
			return nil
		}
		m := part{start: p.at, comma: -1}
		if v.Kind == Object {
			if p.peek() != '"' {
				return p.fail("expected a name in quotation marks, or }")
			}
			var err error
			if m.name, err = p.text(); err != nil {
				return err
			}
			if names[m.name] {
				return errorAt(p.data, m.start, "the name %q is there twice", m.name)
			}
			names[m.name] = true
			if err := p.space(); err != nil {
				return err
			}
			if p.peek() != ':' {
				return p.fail("expected a colon")
			}
			p.at++
			if err := p.space(); err != nil {
				return err
			}
		}
		var err error
		if m.value, err = p.value(depth + 1); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() == ',' {
			m.comma = p.at
			p.at++
		} else if p.peek() != closing {
			return p.fail("expected a comma or %c", closing)
		}
		v.parts = append(v.parts, m)
	}
}

func (p *parser) text() (string, error) {
	start := p.at
	for p.at++; ; p.at++ {
		switch c := p.peek(); {
		case c == '"':
			p.at++
			var s string
			if err := json.Unmarshal(p.data[start:p.at], &s); err != nil {
				return "", errorAt(p.data, start, "the string is not well formed")
			}
			return s, nil
		case c == '\\':
			p.at++
		case c < 0x20:
			return "", p.fail("the string does not end")
		}
	}
}

// scalar reads a number, a boolean or null.
func (p *parser) scalar() error {
	start := p.at
	for c := p.peek(); c != 0 && !bytes.ContainsRune([]byte(" \t\r\n,:{}[]\"/"), rune(c)); c = p.peek() {
		p.at++
	}
	if p.at == start || !json.Valid(p.data[start:p.at]) {
		p.at = start
		return p.fail("expected a value")
	}
	return nil
}

// Get returns the member with a name, or nil.
func (v *Value) Get(name string) *Value {
	if v == nil || v.Kind != Object {
		return nil
	}
	for _, m := range v.parts {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// Items returns the items of an array.
func (v *Value) Items() []*Value {
	if v == nil || v.Kind != Array {
		return nil
	}
	items := make([]*Value, len(v.parts))
	for i, m := range v.parts {
		items[i] = m.value
	}
	return items
}

// Names returns the names of an object's members.
func (v *Value) Names() []string {
	if v == nil || v.Kind != Object {
		return nil
	}
	names := make([]string, len(v.parts))
	for i, m := range v.parts {
		names[i] = m.name
	}
	return names
}
