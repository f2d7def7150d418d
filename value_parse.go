package domarkx

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how deep parsed JSON may be nested ([Value.Depth]), so that a
// hostile document cannot exhaust the stack.
const MaxDepth = 1000

// ParseValue parses one JSON text (RFC 8259) that may stand between white space.
// A lone surrogate escape becomes its three WTF-8 bytes; bytes that are not
// UTF-8 become U+FFFD, one each. The error is a [*SyntaxError] with line and
// column.
func ParseValue(data []byte) (Value, error) { return parse(data, nil) }

// ParseOutline parses as [ParseValue] does, with the same errors, but of the members for which
// passed is true, by name and kind of their value, the value is empty: a string, array or object
// of which it is known that it is one.
func ParseOutline(data []byte, passed func(name string, kind Kind) bool) (Value, error) {
	return parse(data, passed)
}

func parse(data []byte, passed func(name string, kind Kind) bool) (Value, error) {
	p := newParser(data)
	defer p.release()
	p.passed = passed
	v, err := p.whole()
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// ParsePartial parses as [ParseValue] does, but of a text that is broken it returns
// what stands before the damage: the arrays and objects that are open there, with
// those items and members that are whole, or that are open themselves. The value is
// null when there is nothing.
func ParsePartial(data []byte) (Value, error) {
	p := newParser(data)
	defer p.release()
	return p.whole()
}

// isOpen reports whether a value that came with an error is an array or object that
// the damage left open.
func isOpen(v Value) bool { return v.kind == Array || v.kind == Object }

// A parser reads one JSON text. What it needs besides is used again by the next one.
type parser struct {
	data    []byte
	pos     int
	passed  func(name string, kind Kind) bool // see [ParseOutline]
	passing int                               // values around this one that are passed
	names   [128]string                       // of members, which repeat
	members []Member                          // of the objects that are open
	items   []Value                           // of the arrays that are open
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

func newParser(data []byte) *parser {
	p := parsers.Get().(*parser)
	p.data, p.pos = data, 0
	return p
}

// release ends the use of a parser.
func (p *parser) release() {
	const most = 1 << 10
	p.data, p.passed, p.passing = nil, nil, 0
	if p.members = p.members[:0]; cap(p.members) > most {
		p.members = nil
	}
	if p.items = p.items[:0]; cap(p.items) > most {
		p.items = nil
	}
	parsers.Put(p)
}

// whole reads the text, and when it is broken what stands before the damage.
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
	line, column := Position(p.data, p.pos)
	return &SyntaxError{Line: line, Column: column, Msg: fmt.Sprintf(format, args...)}
}

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

// space passes white space, which most JSON that programs write has none of.
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
	start := p.pos
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
	v := Value{kind: Object, offset: p.pos}
	first := len(p.members)
	err := p.readMembers(depth)
	if members := p.members[first:]; len(members) > 0 {
		v.nested = &nested{members: slices.Clone(members)}
		clear(members)
		p.members = p.members[:first]
	}
	return v, err
}

// readMembers reads an object; with an error come those members before the damage.
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
		name, err := p.name()
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
			if value.kind == Number && p.pos == len(p.data) && p.passing == 0 { // it may have gone on
				p.members = p.members[:len(p.members)-1]
			}
			return p.fail("unexpected %s, expected ',' or '}'", p.found())
		}
	}
}

func (p *parser) add(name string, value Value) {
	if p.passing == 0 {
		p.members = append(p.members, Member{name, value})
	}
}

// member reads the value of a member.
func (p *parser) member(name string, depth int) (Value, error) {
	if p.passed == nil || p.passing > 0 || p.pos >= len(p.data) {
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
	if kind == Null || !p.passed(name, kind) {
		return p.value(depth)
	}
	p.passing++
	v, err := p.value(depth)
	p.passing--
	return v, err
}

func (p *parser) array(depth int) (Value, error) {
	v := Value{kind: Array, offset: p.pos}
	first := len(p.items)
	err := p.readItems(depth)
	if items := p.items[first:]; len(items) > 0 {
		v.nested = &nested{items: slices.Clone(items)}
		clear(items)
		p.items = p.items[:first]
	}
	return v, err
}

// readItems reads an array; with an error come those items before the damage.
func (p *parser) readItems(depth int) error {
	p.pos++
	p.space()
	if p.eat(']') {
		return nil
	}
	for {
		p.space()
		item, err := p.value(depth + 1)
		if p.passing == 0 && (err == nil || isOpen(item)) {
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
			if item.kind == Number && p.pos == len(p.data) && p.passing == 0 {
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
	if p.passing > 0 {
		return "", nil
	}
	return string(p.data[start:p.pos]), nil
}

func (p *parser) str() (string, error) {
	p.pos++
	if p.passing > 0 {
		return "", p.pass()
	}
	plain := p.plain()
	if p.pos < len(p.data) && p.data[p.pos] == '"' { // most strings need no work
		p.pos++
		return string(plain), nil
	}
	var buf strings.Builder
	var space [2 * utf8.UTFMax]byte
	buf.Grow(len(plain) + p.rest())
	for buf.Write(plain); p.pos < len(p.data); buf.Write(p.plain()) {
		switch c := p.data[p.pos]; c {
		case '"':
			p.pos++
			if buf.Cap() > buf.Len()+buf.Len()/4 { // most was escapes
				return strings.Clone(buf.String()), nil
			}
			return buf.String(), nil
		case '\\':
			escaped, err := p.escape(space[:0])
			if err != nil {
				return "", err
			}
			buf.Write(escaped)
		default:
			return "", p.control(c)
		}
	}
	return "", p.fail("unexpected end of input in a string, expected '\"'")
}

func (p *parser) control(c byte) error {
	return p.fail("control character 0x%02x in a string, expected an escape", c)
}

// pass goes to the end of a string.
func (p *parser) pass() error {
	var space [2 * utf8.UTFMax]byte
	for p.pos < len(p.data) {
		n, _ := plainRun(p.data[p.pos:])
		if p.pos += n; p.pos == len(p.data) {
			break
		}
		switch c := p.data[p.pos]; c {
		case '"':
			p.pos++
			return nil
		case '\\':
			if _, err := p.escape(space[:0]); err != nil {
				return err
			}
		default:
			return p.control(c)
		}
	}
	return p.fail("unexpected end of input in a string, expected '\"'")
}

// name reads the name of a member. Those that come again share their memory.
func (p *parser) name() (string, error) {
	start := p.pos + 1
	n, ascii := plainRun(p.data[start:])
	if end := start + n; n == 0 || n > 32 || !ascii || end == len(p.data) || p.data[end] != '"' {
		return p.str()
	}
	name := p.data[start : start+n]
	slot := &p.names[(n*7+int(name[0])*3+int(name[n-1])+int(name[n/2])*5)%len(p.names)]
	if *slot != string(name) {
		*slot = string(name)
	}
	p.pos = start + n + 1
	return *slot, nil
}

// plain reads up to the next quote, escape or control character.
func (p *parser) plain() []byte {
	n, ascii := plainRun(p.data[p.pos:])
	run := p.data[p.pos : p.pos+n]
	if p.pos += n; ascii {
		return run
	}
	return validUTF8(run)
}

// rest returns how many bytes a string has from here to its closing quote, or to the
// end: about as many as it will need.
func (p *parser) rest() int {
	for end := p.pos; ; end++ {
		i := bytes.IndexByte(p.data[end:], '"')
		if i < 0 {
			return len(p.data) - p.pos
		}
		end += i
		escapes := 0
		for end-escapes > p.pos && p.data[end-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end - p.pos
		}
	}
}

// escape reads an escape and appends what it stands for.
func (p *parser) escape(buf []byte) ([]byte, error) {
	if p.pos+1 >= len(p.data) {
		p.pos = len(p.data)
		return buf, p.fail("unexpected end of input in a string, expected '\"'")
	}
	var c byte
	switch p.data[p.pos+1] {
	case 'n':
		c = '\n'
	case '"', '\\', '/':
		c = p.data[p.pos+1]
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'u':
		return p.unicode(buf)
	default:
		return buf, p.fail("unknown escape, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u")
	}
	p.pos += 2
	return append(buf, c), nil
}

// unicode reads the escape of a character, which may be two.
func (p *parser) unicode(buf []byte) ([]byte, error) {
	unit, ok := p.hex4(p.pos + 2)
	if !ok {
		return buf, p.fail("bad \\u escape, expected four hexadecimal digits")
	}
	p.pos += 6
	r := rune(unit)
	if utf16.IsSurrogate(r) && p.pos+1 < len(p.data) && p.data[p.pos] == '\\' && p.data[p.pos+1] == 'u' {
		if low, ok := p.hex4(p.pos + 2); ok {
			if full := utf16.DecodeRune(r, rune(low)); full != utf8.RuneError {
				p.pos += 6
				return utf8.AppendRune(buf, full), nil
			}
		}
	}
	return appendWTF8(buf, r), nil
}

func (p *parser) hex4(at int) (uint16, bool) {
	if at+4 > len(p.data) {
		return 0, false
	}
	var unit uint16
	for _, c := range p.data[at : at+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(c)
	}
	return unit, true
}

// appendWTF8 appends a code point, also a surrogate, as its generalized UTF-8
// bytes (https://simonsapin.github.io/wtf-8/).
func appendWTF8(buf []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(buf, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(buf, r)
}
