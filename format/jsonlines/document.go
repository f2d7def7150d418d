package jsonlines

import (
	"bytes"
	"math"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// IsDocument reports whether the file is one JSON object instead of JSON lines. It is if its first
// line is not a whole object, or is an object with the array called name.
func (l *Reader) IsDocument(array string) (bool, error) {
	line, whole, err := l.window.Line(0)
	if err != nil {
		return false, l.Failed(err)
	}
	head := bytes.Trim(bytes.TrimPrefix(line, []byte(bom)), " \t\r\x00")
	if len(head) > format.HeadSize || !whole {
		v, _ := jsonvalue.ParsePartial(head[:min(len(head), format.HeadSize)])
		return has(v, array), nil
	}
	v, err := jsonvalue.ParseOutline(head, l.skips)
	if err != nil {
		partial, _ := jsonvalue.ParsePartial(head)
		return len(partial.Members()) == 0 || has(partial, array), nil
	}
	return has(v, array), nil
}

func has(v jsonvalue.Value, name string) bool { _, ok := v.Get(name); return ok }

// maxRest limits the size of an object without its records, in bytes.
const maxRest = 16 << 20

// Document calls record first for the object of a file, without the items of its array called name,
// and then for each item. It holds only one of them in memory at a time.
func (l *Reader) Document(array string, record func(v jsonvalue.Value, raw []byte, at Place) error) error {
	s := splitter{array: array, line: 1}
	var items []Place
	for start := int64(0); start < l.size; {
		n := min(l.size-start, 64<<10)
		block, err := l.window.Bytes(start, n)
		if err != nil {
			return l.Failed(err)
		}
		items = s.split(block, start, items)
		if start += n; len(s.rest) > maxRest {
			break
		}
	}
	rest := bytes.TrimPrefix(s.rest, []byte(bom))
	v, err := jsonvalue.ParsePartial(rest)
	if err != nil || s.depth > 0 {
		l.Lost(s.line, s.good, l.size, err)
	}
	if err := record(v, rest, Place{}); err != nil {
		return err
	}
	for _, at := range items {
		raw, err := l.window.Bytes(at.Start, int64(at.Size))
		if err != nil {
			return l.Failed(err)
		}
		if v, err = jsonvalue.ParseOutline(raw, l.skips); err != nil || v.Kind() != jsonvalue.Object {
			l.Lost(int(at.Line), at.Start, at.Start+int64(at.Size), err)
			continue
		}
		if err := record(v, raw, at); err != nil {
			return err
		}
	}
	l.Lines, l.End = s.line, l.size
	return nil
}

// A splitter finds the items of an array that is a member of the outermost object.
type splitter struct {
	array  string
	rest   []byte // the object without the items
	name   []byte // the last string seen in the outermost object
	depth  int
	line   int
	good   int64 // offset of the end of the last item
	item   Place // the item being read, if its size is not 0
	inside bool  // in the array
	quoted bool  // in a string
	escape bool  // behind a backslash
}

// split reads the next block of the file, which begins at offset, and adds the items that end in the
// block.
func (s *splitter) split(block []byte, offset int64, items []Place) []Place {
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
				s.item = Place{Start: at, Size: 1, Line: int32(min(s.line, math.MaxInt32))}
			}
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.inside && s.depth == 1 {
				s.inside, keep, s.array = false, true, "\x00" // of several arrays, the first one counts
			} else if s.inside && s.depth == 2 && s.item.Size > 0 && at-s.item.Start < math.MaxUint32 {
				s.item.Size = uint32(at + 1 - s.item.Start)
				items, s.item, s.good = append(items, s.item), Place{}, at+1
			}
		}
		if keep {
			s.rest = append(s.rest, c)
		}
	}
	return items
}

// First returns the first object of JSON lines, or its readable part if head ends inside it.
// Damaged lines may precede it, but text may not.
func First(head []byte) jsonvalue.Value {
	head = bytes.TrimPrefix(head, []byte(bom))
	damaged := false
	for rest := head; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		line = bytes.Trim(line, " \t\r\x00")
		if len(line) > 0 {
			if line[0] != '{' && !damaged {
				return jsonvalue.Value{}
			}
			if v, err := jsonvalue.ParsePartial(line); err == nil || !whole {
				return v
			}
			if bytes.Equal(line, []byte("{")) { // an object on several lines
				v, _ := jsonvalue.ParsePartial(rest)
				return v
			}
			damaged = true
			if v, err := jsonvalue.ParseValue(escape(line)); err == nil {
				return v
			}
			if found, _ := pieces(line, func(string, jsonvalue.Kind) bool { return false }); len(found) > 0 {
				return found[0].value
			}
		}
		rest = after
	}
	return jsonvalue.Value{}
}
