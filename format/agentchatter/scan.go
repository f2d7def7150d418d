package agentchatter

import (
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// A scanner splits a document at its messages without parsing it: it only follows quotes and brackets.
// The caller must parse the messages and the rest. If all of them are valid JSON, so is the document,
// and the split is right.
type scanner struct {
	path   string
	window *format.Window
	size   int64
	at     int64
	block  []byte // unread bytes start at index at
}

// fill makes at least one byte available, and reports whether it could.
func (s *scanner) fill() (bool, error) {
	if len(s.block) > 0 || s.at == s.size {
		return len(s.block) > 0, nil
	}
	var err error
	if s.block, err = s.window.Bytes(s.at, min(s.size-s.at, 64<<10)); err != nil {
		return false, fmt.Errorf("%s: %w", s.path, err)
	}
	return true, nil
}

// peek returns the next byte; 0 at the end.
func (s *scanner) peek() (byte, error) {
	if ok, err := s.fill(); !ok {
		return 0, err
	}
	return s.block[0], nil
}

func (s *scanner) skip(n int) { s.block, s.at = s.block[n:], s.at+int64(n) }

// next returns the next byte that is not white space; 0 at the end.
func (s *scanner) next() (byte, error) {
	for {
		switch c, err := s.peek(); {
		case err != nil:
			return 0, err
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.skip(1)
		default:
			return c, nil
		}
	}
}

// eat skips white space and then one byte out of the given set, which it returns.
func (s *scanner) eat(wanted string) (byte, error) {
	c, err := s.next()
	if err != nil {
		return 0, err
	}
	for i := range len(wanted) {
		if c != 0 && wanted[i] == c {
			s.skip(1)
			return c, nil
		}
	}
	found := "the end of the document"
	if c != 0 {
		found = fmt.Sprintf("%q", rune(c))
	}
	return 0, &damagedError{at: s.at, msg: fmt.Sprintf("unexpected %s, expected one of %s", found, wanted)}
}

// document passes each message to item, and returns the byte range of the array of messages.
func (s *scanner) document(item func(extent) error, inside *extent) error {
	seen := map[string]bool{}
	once := func(name string) error { // a second array: JSON readers would use the last one
		if seen[name] {
			return &damagedError{at: s.at, msg: fmt.Sprintf("has the member %q twice", name)}
		}
		seen[name] = true
		return nil
	}
	err := s.members(func(name string, c byte) error {
		if name != keyContext {
			return s.value()
		}
		if err := once(name); err != nil {
			return err
		}
		if c != '{' {
			return s.value()
		}
		return s.members(func(name string, c byte) error {
			if name != keyMessages {
				return s.value()
			}
			if err := once(name); err != nil {
				return err
			}
			if c != '[' {
				return s.value()
			}
			s.skip(1)
			inside.from, inside.to = s.at, s.at
			err := s.itemsOf(item)
			if inside.to = s.at; err == nil {
				s.skip(1) // the bracket
			}
			return err
		})
	})
	if inside.from == 0 { // there are no messages
		inside.from, inside.to = s.at, s.at
	}
	if err != nil {
		return err
	}
	if c, err := s.next(); err != nil || c != 0 {
		if err == nil {
			err = &damagedError{at: s.at, msg: fmt.Sprintf("unexpected %q after the document", rune(c))}
		}
		return err
	}
	return nil
}

// members reads an object. It calls member for each name, positioned at the value, which member
// must read.
func (s *scanner) members(member func(name string, c byte) error) error {
	if _, err := s.eat("{"); err != nil {
		return err
	}
	if c, err := s.next(); err != nil {
		return err
	} else if c == '}' {
		s.skip(1)
		return nil
	}
	for {
		if c, err := s.next(); err != nil || c != '"' {
			_, err = s.eat(`"`)
			return err
		}
		from := s.at
		if err := s.value(); err != nil {
			return err
		}
		name, err := s.name(extent{from, s.at})
		if err != nil {
			return err
		}
		if _, err := s.eat(":"); err != nil {
			return err
		}
		c, err := s.next()
		if err != nil {
			return err
		}
		if err := member(name, c); err != nil {
			return err
		}
		if c, err := s.eat(",}"); err != nil || c == '}' {
			return err
		}
	}
}

func (s *scanner) name(e extent) (string, error) {
	raw, err := s.window.Bytes(e.from, e.to-e.from)
	if err != nil {
		return "", err
	}
	v, err := jsonvalue.ParseValue(raw)
	if err != nil {
		return "", &damagedError{at: e.from, msg: "a name is not a string"}
	}
	return v.Text(), nil
}

// itemsOf reads the items of an array, up to its closing bracket.
func (s *scanner) itemsOf(item func(extent) error) error {
	if c, err := s.next(); err != nil || c == ']' {
		return err
	}
	for {
		if _, err := s.next(); err != nil {
			return err
		}
		e := extent{from: s.at}
		if err := s.value(); err != nil {
			return err
		}
		e.to = s.at
		if err := item(e); err != nil {
			return err
		}
		if c, err := s.next(); err != nil || c == ']' {
			return err
		}
		if _, err := s.eat(",]"); err != nil {
			return err
		}
	}
}

// value skips a value: up to its closing bracket or quote, or to the end of a number or word.
func (s *scanner) value() error {
	depth, quoted, escaped := 0, false, false
	from := s.at
	for {
		ok, err := s.fill()
		if err != nil {
			return err
		}
		if !ok {
			return &damagedError{at: s.at, msg: "unexpected end of the document in a value"}
		}
		for i, c := range s.block {
			switch {
			case escaped:
				escaped = false
				continue
			case quoted && c == '\\':
				escaped = true
				continue
			case quoted && c != '"':
				continue
			case c == '"':
				quoted = !quoted
				if quoted || depth > 0 {
					continue
				}
			case c == '{' || c == '[':
				depth++
				continue
			case c == '}' || c == ']':
				depth--
				if depth > 0 {
					continue
				}
				if depth < 0 { // the byte belongs to what follows the value
					return s.endAt(i, from)
				}
			case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
				return s.endAt(i, from)
			default:
				continue
			}
			s.skip(i + 1)
			return nil
		}
		s.skip(len(s.block))
	}
}

// endAt ends a value before byte i of the block.
func (s *scanner) endAt(i int, from int64) error {
	s.skip(i)
	if s.at == from {
		return &damagedError{at: s.at, msg: "a value is missing"}
	}
	return nil
}
