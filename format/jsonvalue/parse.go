package jsonvalue

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/syntax"
)

// MaxDepth is how deep parsed JSON may be nested ([Value.Depth]), so that a
// hostile document cannot exhaust the stack.
const MaxDepth = 1000

// ParseValue parses one JSON text (RFC 8259), optionally surrounded by white space. It decodes a
// lone surrogate escape to its three WTF-8 bytes, and replaces each byte that is not UTF-8 with
// U+FFFD. Errors are [*syntax.Error] values with line and column.
func ParseValue(data []byte) (Value, error) { return ParseOutline(data, nil) }

// MustParse is [ParseValue] for a text of the program. It panics for one that is not valid.
func MustParse(text string) Value {
	v, err := ParseValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// ParseOutline is like [ParseValue], with the same errors, but without content that the caller does
// not need. It calls skips with the name and the kind of each member that is a string, array or
// object. If skips returns true, the member gets an empty value of that kind.
func ParseOutline(data []byte, skips func(name string, kind Kind) bool) (Value, error) {
	p := newParser(data)
	defer p.release()
	p.skips = skips
	v, err := p.whole()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// ParsePartial is like [ParseValue] for damaged text. With the error it returns what precedes the
// damage: the arrays and objects that are open at that point, with those of their items and members
// that are complete or open themselves. The value is null if there is nothing to return. It reads the words, which JSON does not
// have, as strings.
func ParsePartial(data []byte, words ...string) (Value, error) {
	p := newParser(data)
	p.words = words
	defer p.release()
	return p.whole()
}

// isOpen reports whether a value that was returned with an error is an array or object without its
// end.
func isOpen(v Value) bool { return v.kind == Array || v.kind == Object }

// A parser reads one JSON text. Parsers and their buffers are pooled.
type parser struct {
	data     []byte
	pos      int
	skips    func(name string, kind Kind) bool // see [ParseOutline]
	words    []string                          // see [ParsePartial]
	skipping int                               // how many of the values around the current one are skipped
	texts    [512]string                       // short strings and numbers, because they repeat
	members  []Member                          // of the objects that are not closed yet
	items    []Value                           // of the arrays that are not closed yet
	buf      []byte                            // of the string that is being read
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(data []byte) *parser {
	p := parsers.Get().(*parser)
	p.data, p.pos = data, 0
	return p
}

func (p *parser) release() {
	const most, maxBuffer = 1 << 10, 64 << 10
	p.data, p.skips, p.words, p.skipping = nil, nil, nil, 0
	if p.members = p.members[:0]; cap(p.members) > most {
		p.members = nil
	}
	if p.items = p.items[:0]; cap(p.items) > most {
		p.items = nil
	}
	if cap(p.buf) > maxBuffer {
		p.buf = nil
	}
	parsers.Put(p)
}

// whole reads the text. With an error it returns the value that precedes the damage.
func (p *parser) whole() (Value, error) {
	p.space()
	v, err := p.value(0)
	if err != nil {
		return v, err
	}
	p.space()
	if p.pos < len(p.data) {
		return v, p.fail("unexpected %s after the JSON value, expected the end", p.found())
	}
	return v, nil
}

func (p *parser) fail(format string, args ...any) error {
	line, column := syntax.Position(p.data, p.pos)
	return &syntax.Error{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
}

// offset returns the current position in the form of Value.offset.
func (p *parser) offset() uint32 { return uint32(min(uint64(p.pos), math.MaxUint32)) }

func (p *parser) found() string {
	if p.pos >= len(p.data) {
		return "end of input"
	}
	r, size := utf8.DecodeRune(p.data[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("byte 0x%02x", p.data[p.pos])
	}
	return fmt.Sprintf("%q", r)
}

// space skips white space. JSON written by programs mostly has none.
func (p *parser) space() {
	if p.pos < len(p.data) && p.data[p.pos] > ' ' {
		return
	}
	p.spaces()
}

func (p *parser) spaces() {
	for p.pos < len(p.data) {
		switch p.data[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, p.fail("nested deeper than %d levels", MaxDepth)
	}
	if p.pos >= len(p.data) {
		return Value{}, p.fail("unexpected end of input, expected a JSON value")
	}
	start := p.offset()
	for _, word := range p.words {
		if p.word(word) {
			return Value{kind: String, text: word, offset: start}, nil
		}
	}
	switch c := p.data[p.pos]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		if err != nil {
			return Value{}, err
		}
		return Value{kind: String, text: s, offset: start}, nil
	case c == '-' || '0' <= c && c <= '9':
		s, err := p.number()
		if err != nil {
			return Value{}, err
		}
		return Value{kind: Number, text: s, offset: start}, nil
	}
	switch {
	case p.word("null"):
		return Value{kind: Null, offset: start}, nil
	case p.word("true"):
		return Value{kind: Bool, text: "true", offset: start}, nil
	case p.word("false"):
		return Value{kind: Bool, text: "false", offset: start}, nil
	}
	return Value{}, p.fail("unexpected %s, expected a JSON value", p.found())
}

func (p *parser) object(depth int) (Value, error) {
	v := Value{kind: Object, offset: p.offset()}
	first := len(p.members)
	err := p.readMembers(depth)
	if members := p.members[first:]; len(members) > 0 {
		v.nested = &nested{members: slices.Clone(members)}
		clear(members)
		p.members = p.members[:first]
	}
	return v, err
}

// readMembers reads an object into p.members. After an error, they are the members that precede the
// damage.
func (p *parser) readMembers(depth int) error {
	p.pos++
	p.space()
	if p.eat('}') {
		return nil
	}
	for {
		p.space()
		if p.pos >= len(p.data) || p.data[p.pos] != '"' {
			return p.fail("unexpected %s, expected a member name in double quotes", p.found())
		}
		name, err := p.str()
		if err != nil {
			return err
		}
		p.space()
		if !p.eat(':') {
			return p.fail("unexpected %s, expected ':' after a member name", p.found())
		}
		p.space()
		value, err := p.member(name, depth+1)
		if err != nil {
			if isOpen(value) {
				p.add(name, value)
			}
			return err
		}
		p.add(name, value)
		p.space()
		if p.eat('}') {
			return nil
		}
		if !p.eat(',') {
			if value.kind == Number && p.pos == len(p.data) && p.skipping == 0 { // the number may have been cut off
				p.members = p.members[:len(p.members)-1]
			}
			return p.fail("unexpected %s, expected ',' or '}'", p.found())
		}
	}
}

func (p *parser) add(name string, value Value) {
	if p.skipping == 0 {
		p.members = append(p.members, Member{name, value})
	}
}

func (p *parser) member(name string, depth int) (Value, error) {
	if p.skips == nil || p.skipping > 0 || p.pos >= len(p.data) {
		return p.value(depth)
	}
	kind := Null
	switch p.data[p.pos] {
	case '"':
		kind = String
	case '{':
		kind = Object
	case '[':
		kind = Array
	}
	if kind == Null || !p.skips(name, kind) {
		return p.value(depth)
	}
	p.skipping++
	v, err := p.value(depth)
	p.skipping--
	return v, err
}

func (p *parser) array(depth int) (Value, error) {
	v := Value{kind: Array, offset: p.offset()}
	first := len(p.items)
	err := p.readItems(depth)
	if items := p.items[first:]; len(items) > 0 {
		v.nested = &nested{items: slices.Clone(items)}
		clear(items)
		p.items = p.items[:first]
	}
	return v, err
}

// readItems reads an array into p.items. After an error, they are the items that precede the
// damage.
func (p *parser) readItems(depth int) error {
	p.pos++
	p.space()
	if p.eat(']') {
		return nil
	}
	for {
		p.space()
		item, err := p.value(depth + 1)
		if p.skipping == 0 && (err == nil || isOpen(item)) {
			p.items = append(p.items, item)
		}
		if err != nil {
			return err
		}
		p.space()
		if p.eat(']') {
			return nil
		}
		if !p.eat(',') {
			if item.kind == Number && p.pos == len(p.data) && p.skipping == 0 {
				p.items = p.items[:len(p.items)-1]
			}
			return p.fail("unexpected %s, expected ',' or ']'", p.found())
		}
	}
}

func (p *parser) eat(c byte) bool {
	if p.pos < len(p.data) && p.data[p.pos] == c {
		p.pos++
		return true
	}
	return false
}

func (p *parser) word(w string) bool {
	if len(p.data)-p.pos < len(w) || string(p.data[p.pos:p.pos+len(w)]) != w {
		return false
	}
	p.pos += len(w)
	return true
}

func (p *parser) digits() bool {
	start := p.pos
	for p.pos < len(p.data) && '0' <= p.data[p.pos] && p.data[p.pos] <= '9' {
		p.pos++
	}
	return p.pos > start
}

func (p *parser) number() (string, error) {
	start := p.pos
	p.eat('-')
	if !p.eat('0') && !p.digits() {
		return "", p.fail("unexpected %s, expected a digit", p.found())
	}
	if p.eat('.') && !p.digits() {
		return "", p.fail("unexpected %s, expected a digit after the decimal point", p.found())
	}
	if p.eat('e') || p.eat('E') {
		if !p.eat('+') {
			p.eat('-')
		}
		if !p.digits() {
			return "", p.fail("unexpected %s, expected a digit in the exponent", p.found())
		}
	}
	if p.skipping > 0 {
		return "", nil
	}
	return p.text(p.data[start:p.pos]), nil
}
