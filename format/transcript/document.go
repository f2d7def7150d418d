package transcript

import (
	"bytes"
	"math"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// isOne reports whether the file is one object, and not a line for each record: its first line is no
// object, or one with the array.
func (x *index) isOne() (bool, error) {
	line, whole, err := x.window.Line(0)
	if err != nil {
		return false, x.failed(err)
	}
	head := bytes.TrimPrefix(line, []byte(bom))
	if len(head) > format.HeadSize || !whole {
		v, _ := domarkx.ParsePartial(head[:min(len(head), format.HeadSize)])
		return Has(v, x.agent.Array), nil
	}
	v, err := domarkx.ParseOutline(head, x.skips)
	if err != nil {
		partial, _ := domarkx.ParsePartial(head)
		return len(partial.Members()) == 0 || Has(partial, x.agent.Array), nil
	}
	return Has(v, x.agent.Array), nil
}

// maxRest limits what an object has beside its records, in bytes.
const maxRest = 16 << 20

// document calls record for the object of a file without the items of the array of that name, and
// for each item. It holds only one of them in memory.
func (l *lines) document(array string, record func(v domarkx.Value, raw []byte, at place) error) error {
	s := splitter{array: array, line: 1}
	var items []place
	for start := int64(0); start < l.size; {
		n := min(l.size-start, 64<<10)
		block, err := l.window.Bytes(start, n)
		if err != nil {
			return l.failed(err)
		}
		items = s.split(block, start, items)
		if start += n; len(s.rest) > maxRest {
			break
		}
	}
	rest := bytes.TrimPrefix(s.rest, []byte(bom))
	v, err := domarkx.ParsePartial(rest)
	if err != nil || s.depth > 0 {
		l.lost(s.line, s.good, l.size, err)
	}
	if err := record(v, rest, place{}); err != nil {
		return err
	}
	for _, at := range items {
		raw, err := l.window.Bytes(at.start, int64(at.size))
		if err != nil {
			return l.failed(err)
		}
		if v, err = domarkx.ParseOutline(raw, l.skips); err != nil || v.Kind() != domarkx.Object {
			l.lost(int(at.line), at.start, at.start+int64(at.size), err)
			continue
		}
		if err := record(v, raw, at); err != nil {
			return err
		}
	}
	l.number, l.end = s.line, l.size
	return nil
}

// A splitter finds the items of an array that is a member of the outermost object.
type splitter struct {
	array  string
	rest   []byte // everything but the items
	name   []byte // the last string in the outermost object
	depth  int
	line   int
	good   int64 // the end of the last item
	item   place // the current one, when its size is not 0
	inside bool  // in the array
	quoted bool  // in a string
	escape bool  // behind a backslash
}

// split reads the next block of the file, which begins at an offset, and adds the items that end in
// it.
func (s *splitter) split(block []byte, offset int64, items []place) []place {
	for i, c := range block {
		at := offset + int64(i)
		if c == '\n' {
			s.line++
		}
		keep := !s.inside || s.depth < 2
		switch {
		case s.quoted:
			if s.depth == 1 && len(s.name) <= len(s.array) && (c != '"' || s.escape) {
				s.name = append(s.name, c)
			}
			s.quoted = c != '"' || s.escape
			s.escape = c == '\\' && !s.escape
		case c == '"':
			s.quoted = true
			if s.depth == 1 {
				s.name = s.name[:0]
			}
		case c == '{' || c == '[':
			if s.depth == 1 && c == '[' && string(s.name) == s.array && !s.inside {
				s.inside = true
			} else if s.inside && s.depth == 2 {
				s.item = place{start: at, size: 1, line: int32(min(s.line, math.MaxInt32))}
			}
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.inside && s.depth == 1 {
				s.inside, keep, s.array = false, true, "\x00" // the first one counts
			} else if s.inside && s.depth == 2 && s.item.size > 0 && at-s.item.start < math.MaxUint32 {
				s.item.size = uint32(at + 1 - s.item.start)
				items, s.item, s.good = append(items, s.item), place{}, at+1
			}
		}
		if keep {
			s.rest = append(s.rest, c)
		}
	}
	return items
}
