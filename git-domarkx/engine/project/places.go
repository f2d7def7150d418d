package project

import (
	"strconv"
	"strings"
)

// places returns the offsets of the keys and list items in a TOML text that the library accepted, by JSON pointer. The library
// does not report them for keys that can occur several times, such as those of [[tables]].
func places(data []byte) map[string]int {
	s := &scanner{data: string(data), at: map[string]int{}, items: map[string]int{}}
	table := ""
	for {
		s.blank(true)
		start := s.i
		switch s.peek() {
		case 0:
			return s.at
		case '[':
			list := strings.HasPrefix(s.data[s.i:], "[[")
			s.i++
			if list {
				s.i++
			}
			keys := s.keys()
			table = ""
			for n, k := range keys {
				table = s.inside(table) + "/" + escape(k.name)
				if n < len(keys)-1 || !list {
					s.note(table, k.offset)
				}
			}
			if list {
				s.note(table, start)
				s.items[table]++
				s.note(s.inside(table), start)
			}
			table = s.inside(table)
			s.blank(false)
			s.skip("]")
			s.skip("]")
		default:
			s.pair(table)
		}
		if s.i == start { // no progress: the text is not valid TOML
			return s.at
		}
	}
}

// A scanner finds positions in a TOML text, which should be valid.
type scanner struct {
	data  string
	i     int
	at    map[string]int
	items map[string]int // number of [[tables]], by pointer
}

type key struct {
	name   string
	offset int
}

func (s *scanner) note(pointer string, offset int) {
	if _, ok := s.at[pointer]; !ok {
		s.at[pointer] = offset
	}
}

// inside returns the pointer of the table that a header refers to: for [[tables]], the last one.
func (s *scanner) inside(pointer string) string {
	if n := s.items[pointer]; n > 0 {
		return pointer + "/" + strconv.Itoa(n-1)
	}
	return pointer
}

func (s *scanner) peek() byte {
	if s.i < len(s.data) {
		return s.data[s.i]
	}
	return 0
}

func (s *scanner) skip(what string) {
	if strings.HasPrefix(s.data[s.i:], what) {
		s.i += len(what)
	}
}

// blank skips white space. If lines is set, it also skips line ends and comments.
func (s *scanner) blank(lines bool) {
	for s.i < len(s.data) {
		switch c := s.data[s.i]; {
		case c == ' ' || c == '\t' || lines && (c == '\n' || c == '\r'):
			s.i++
		case lines && c == '#':
			end := strings.IndexByte(s.data[s.i:], '\n')
			if end < 0 {
				s.i = len(s.data)
				return
			}
			s.i += end
		default:
			return
		}
	}
}

// keys scans a dotted key.
func (s *scanner) keys() []key {
	var all []key
	for {
		s.blank(false)
		start := s.i
		var name string
		if c := s.peek(); c == '"' || c == '\'' {
			name = s.text()
		} else {
			for s.i < len(s.data) && isBare(rune(s.data[s.i])) {
				s.i++
			}
			name = s.data[start:s.i]
		}
		all = append(all, key{name, start})
		s.blank(false)
		if s.peek() != '.' || s.i == start {
			return all
		}
		s.i++
	}
}

func isBare(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_'
}

// pair scans a key and its value in a table.
func (s *scanner) pair(table string) {
	for _, k := range s.keys() {
		table += "/" + escape(k.name)
		s.note(table, k.offset)
	}
	s.blank(false)
	s.skip("=")
	s.blank(false)
	s.value(table)
}

// value scans a value. tooDeep has limited its nesting.
func (s *scanner) value(pointer string) {
	switch c := s.peek(); c {
	case '"', '\'':
		s.text()
	case '[', '{':
		s.i++
		for n := 0; ; n++ {
			s.blank(true)
			start := s.i
			switch {
			case s.peek() == 0:
				return
			case s.peek() == ']' || s.peek() == '}':
				s.i++
				return
			case c == '[':
				item := pointer + "/" + strconv.Itoa(n)
				s.note(item, s.i)
				s.value(item)
			default:
				s.pair(pointer)
			}
			s.blank(true)
			s.skip(",")
			if s.i == start {
				return
			}
		}
	default:
		if end := strings.IndexAny(s.data[s.i:], ",]}#\r\n"); end >= 0 {
			s.i += end
		} else {
			s.i = len(s.data)
		}
	}
}

// text scans a string and returns its value.
func (s *scanner) text() string {
	quote := s.data[s.i : s.i+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(s.data[s.i:], long) {
		quote = long
	}
	s.i += len(quote)
	start := s.i
	for s.i < len(s.data) && !strings.HasPrefix(s.data[s.i:], quote) {
		if s.data[s.i] == '\\' && quote[0] == '"' {
			s.i++
		}
		s.i++
	}
	s.i = min(s.i, len(s.data))
	said := s.data[start:s.i]
	s.skip(quote)
	for len(quote) == 3 && s.peek() == quote[0] { // up to two more quotes belong to the string
		s.i++
	}
	if quote[0] == '"' {
		said = unquoted(said)
	}
	return said
}

// unquoted returns the value of a basic string, as far as keys need it.
func unquoted(said string) string {
	if !strings.Contains(said, `\`) {
		return said
	}
	var b strings.Builder
	for i := 0; i < len(said); i++ {
		if said[i] != '\\' || i+1 == len(said) {
			b.WriteByte(said[i])
			continue
		}
		i++
		digits := 0
		switch c := said[i]; c {
		case 'b', 't', 'n', 'f', 'r', 'e':
			b.WriteByte(map[byte]byte{'b': '\b', 't': '\t', 'n': '\n', 'f': '\f', 'r': '\r', 'e': 0x1b}[c])
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		default:
			b.WriteByte(c)
		}
		if digits > 0 && i+digits < len(said) {
			n, _ := strconv.ParseUint(said[i+1:i+1+digits], 16, 32)
			b.WriteRune(rune(n))
			i += digits
		}
	}
	return b.String()
}

// tooDeep returns the offset at which brackets, or the dots of a key, are nested deeper than
// maxDepth. The text need not be valid.
func tooDeep(data []byte) (offset int, deep bool) {
	s := &scanner{data: string(data)}
	depth, dots := 0, 0
	for s.i < len(s.data) {
		switch s.data[s.i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
		case '#':
			s.blank(true)
			continue
		case '"', '\'':
			s.text()
			continue
		}
		if depth+dots > maxDepth {
			return s.i, true
		}
		s.i++
	}
	return 0, false
}
