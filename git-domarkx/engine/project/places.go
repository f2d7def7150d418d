package project

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"
)

// A token is a part of a TOML text: a string, a bare word, a line end, or another character.
type token struct {
	text string
	at   int // offset in the text
}

// tokenPattern matches a token, white space or a comment. A string without an end goes to the end of its line, or of the
// text, so that each byte is read once.
var tokenPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)#[^\n]*|"""(?:[^\\]|\\.)*?(?:"{3,5}|\z)|'''.*?(?:'{3,5}|\z)|"(?:[^"\\\n]|\\[^\n])*"?|'[^'\n]*'?|[\w-]+|.`)
})

// tokens returns the tokens of a text, which need not be valid.
func tokens(text string) []token {
	var all []token
	for _, m := range tokenPattern().FindAllStringIndex(text, -1) {
		if t := text[m[0]:m[1]]; t[0] != '#' && !strings.Contains(" \t\r", t) {
			all = append(all, token{t, m[0]})
		}
	}
	return all
}

// tooDeep returns the offset at which brackets, or the dots of a key, are nested deeper than maxDepth.
func tooDeep(all []token) (offset int, deep bool) {
	depth, dots := 0, 0
	for _, t := range all {
		switch t.text {
		case "[", "{":
			depth++
		case "]", "}":
			depth = max(0, depth-1)
		case ".":
			dots++
		case "=", ",", "\n":
			dots = 0
		}
		if depth+dots > maxDepth {
			return t.at, true
		}
	}
	return 0, false
}

// places returns the offsets of the keys and list items in a TOML text that the library accepted, by JSON pointer. The library
// does not report them for keys that can occur several times, such as those of [[tables]].
func places(all []token) map[string]int {
	s := &scanner{rest: all, at: map[string]int{}, items: map[string]int{}}
	table := ""
	for len(s.rest) > 0 {
		start := s.rest[0].at
		switch {
		case s.skip("\n"):
		case s.skip("["):
			list := s.skip("[")
			keys := s.keys()
			table = ""
			for n, k := range keys {
				table = s.inside(table) + "/" + Escape(k.text)
				if n < len(keys)-1 || !list {
					s.note(table, k.at)
				}
			}
			if list {
				s.note(table, start)
				s.items[table]++
				s.note(s.inside(table), start)
			}
			table = s.inside(table)
			s.skip("]")
			s.skip("]")
		default:
			s.pair(table)
		}
	}
	return s.at
}

// A scanner finds the places of keys and items.
type scanner struct {
	rest  []token
	at    map[string]int
	items map[string]int // number of [[tables]], by pointer
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

// skip skips a token if it is the next one.
func (s *scanner) skip(text string) bool {
	is := len(s.rest) > 0 && s.rest[0].text == text
	if is {
		s.rest = s.rest[1:]
	}
	return is
}

// next returns the next token, which is empty at the end.
func (s *scanner) next() (t token) {
	if len(s.rest) > 0 {
		t, s.rest = s.rest[0], s.rest[1:]
	}
	return t
}

// keys scans a dotted key.
func (s *scanner) keys() (all []token) {
	for {
		k := s.next()
		if strings.HasPrefix(k.text, `"`) || strings.HasPrefix(k.text, "'") {
			var quoted struct{ Key string }
			_, _ = toml.Decode("Key = "+k.text, &quoted) // it is valid
			k.text = quoted.Key
		}
		if all = append(all, k); !s.skip(".") {
			return all
		}
	}
}

// pair scans a key and its value in a table.
func (s *scanner) pair(table string) {
	for _, k := range s.keys() {
		table += "/" + Escape(k.text)
		s.note(table, k.at)
	}
	s.skip("=")
	s.value(table)
}

// value scans a value. tooDeep has limited its nesting.
func (s *scanner) value(pointer string) {
	switch {
	case s.skip("["):
		for n := 0; s.more("]"); n++ {
			item := pointer + "/" + strconv.Itoa(n)
			s.note(item, s.rest[0].at)
			s.value(item)
		}
	case s.skip("{"):
		for s.more("}") {
			s.pair(pointer)
		}
	default:
		for s.next(); len(s.rest) > 0 && !strings.Contains(",]}\n", s.rest[0].text); s.next() {
		}
	}
}

// more skips line ends and commas, and reports whether an item or a pair comes before the end of a list or table.
func (s *scanner) more(end string) bool {
	for s.skip("\n") || s.skip(",") {
	}
	return len(s.rest) > 0 && !s.skip(end)
}
