package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/domarkx/domarkx/format/syntax"
)

// A source is a text to read, with its includes expanded, that knows where each
// of its lines came from.
type source struct {
	text []byte
	runs []origin // in order; the first begins at 0
}

// An origin says where a run of lines came from.
type origin struct {
	at   int    // where the run begins in the text
	raw  int    // where it begins in the document itself; -1 when it was included
	path string // the file, for messages
	line int    // the number of its first line there, from 1
	one  bool   // the whole run is from that one line
}

// origin returns the run that the line at an offset belongs to.
func (s *source) origin(offset int) origin {
	i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].at > offset })
	return s.runs[i-1]
}

// errorAt returns an error about the text at an offset.
func (s *source) errorAt(offset int, format string, args ...any) error {
	e := &syntax.Error{Msg: fmt.Sprintf(format, args...)}
	run := s.origin(offset)
	e.Path = run.path
	e.Line, e.Column = syntax.Position(s.text[run.at:], offset-run.at)
	e.Line += run.line - 1
	if run.one {
		e.Line, e.Column = run.line, 1
	}
	return e
}

// errorIn converts an error in a code block's content, with a position relative to that content, to
// one with the position in the file. what names the block.
func (s *source) errorIn(seg segment, what string, err error) error {
	var inner *syntax.Error
	if !errors.As(err, &inner) {
		return s.errorAt(seg.start, "%s: %v", what, err)
	}
	at, line := seg.bodyStart, []byte(nil)
	for n, next := 1, at; n <= max(1, inner.Line) && next < seg.bodyEnd; n++ {
		at = next
		line, next = cutLine(s.text, at)
	}
	e := new(syntax.Error)
	errors.As(s.errorAt(at, "%s: %s", what, inner.Msg), &e)
	e.Pointer, e.Err = inner.Pointer, inner.Err
	if e.Column == 1 && inner.Column > 0 && !s.origin(at).one {
		e.Column = inner.Column + leadingSpaces(line, seg.fence.indent)
	}
	return e
}

// code returns the content of a code block: its lines joined by LF.
func (s *source) code(seg segment) string {
	body := unindent(chomp(s.text[seg.bodyStart:seg.bodyEnd]), seg.fence.indent)
	return valid(unixLines(body))
}

// words returns the words of a code block's info string.
func (seg segment) words() [][]byte {
	return bytes.FieldsFunc(seg.fence.info, func(r rune) bool { return r == ' ' || r == '\t' })
}

// is reports whether the segment is a code block that has the word in its info.
func (seg segment) is(word string) bool {
	if !seg.code {
		return false
	}
	for _, w := range seg.words() {
		if string(w) == word {
			return true
		}
	}
	return false
}

// language returns the language of a code block: the first word of its info string that is neither
// an attribute nor the word besides.
func (seg segment) language(besides string) string {
	for _, w := range seg.words() {
		if string(w) == besides {
			continue
		}
		if bytes.HasPrefix(w, []byte(nameAttribute)) {
			return ""
		}
		return valid(w)
	}
	return ""
}

const nameAttribute = "name="

// name returns the value of the first name attribute of a code block.
func (seg segment) name() (string, bool) {
	for _, w := range seg.words() {
		if value, ok := bytes.CutPrefix(w, []byte(nameAttribute)); ok {
			return valid(value), true
		}
	}
	return "", false
}
