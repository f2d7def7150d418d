package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A Gap is a range of bytes in a damaged document that could not be read.
type Gap struct {
	From, To int
	Item     int // how many items of the array precede it
}

// Salvage reads the rest of a damaged JSON document, from the damage at which
// [jsonvalue.ParsePartial] stopped; v and broken are what that returned. path consists of the member
// names that lead to an array of objects, such as "context", "messages". Only this array is
// searched.
//
// After each damage, Salvage continues with the next object that isItem accepts. Objects inside
// strings do not match, because their quotes are escaped. A damaged object is an item, as far as it
// can be read, if isItem accepts it. Salvage returns the document without the ranges that could not
// be read, and these ranges, in order. It reads the words as ParsePartial does.
func Salvage(data []byte, v jsonvalue.Value, broken error, isItem func(jsonvalue.Value) bool, words []string, path ...string) (jsonvalue.Value, []Gap) {
	s := salvage{data: data, isItem: isItem, words: words, path: path, budget: salvageBudget * len(data)}
	damage := s.offset(0, broken)
	at, found := s.array(path[len(path)-1])
	if !found {
		s.gap(damage, len(data))
		return v, s.gaps
	}
	s.gap(damage, at) // nothing, unless the damage precedes the array
	rest := jsonvalue.Value{}
	if end := s.read(at); end >= 0 {
		var left int
		if rest, left = s.behind(end); left >= 0 {
			s.gap(left, len(data))
		}
	}
	return s.join(v, rest, path), s.gaps
}

// Damaged returns reports of the damage that [jsonvalue.ParsePartial] found and of the ranges that
// could not be read. items is what the format calls the items of the array.
func Damaged(path string, data []byte, broken error, gaps []Gap, items string) []*syntax.Error {
	first := syntax.Error{Msg: broken.Error(), Err: broken}
	if at := (*syntax.Error)(nil); errors.As(broken, &at) {
		first = *at
	}
	first.Path = path
	reports := []*syntax.Error{&first}
	from, to := position{data: data}, position{data: data}
	for i, g := range gaps {
		if i == maxGaps {
			left := 0
			for _, g := range gaps[i:] {
				left += g.To - g.From
			}
			return append(reports, &syntax.Error{Path: path, Msg: fmt.Sprintf("%d bytes in %d more places could not be read", left, len(gaps)-i)})
		}
		line, column := from.of(g.From)
		endLine, endColumn := to.of(g.To)
		skipped := fmt.Sprintf("%d bytes from %d:%d to %d:%d, after %d %s, could not be read", g.To-g.From, line, column, endLine, endColumn, g.Item, items)
		if i == 0 {
			first.Msg += "; " + skipped
			continue
		}
		reports = append(reports, &syntax.Error{Path: path, Line: line, Column: column, Msg: skipped})
	}
	return reports
}

// maxGaps is the maximum number of ranges that are reported individually.
const maxGaps = 1000

// A position converts offsets to lines and columns. Offsets must be passed in ascending order, so
// that each line end is counted only once.
type position struct {
	data []byte
	at   int // offset up to which lines were counted
	line int // number of lines up to there
}

// of returns the line and column of an offset, like [syntax.Position].
func (p *position) of(offset int) (line, column int) {
	p.line += bytes.Count(p.data[p.at:offset], []byte("\n"))
	p.at = offset
	start := bytes.LastIndexByte(p.data[:offset], '\n') + 1
	_, column = syntax.Position(p.data[start:], offset-start)
	return p.line + 1, column
}

// join returns v with the members of rest that it lacks, and with the items that were read at a
// path.
func (s *salvage) join(v, rest jsonvalue.Value, path []string) jsonvalue.Value {
	members := slices.Clone(v.Members())
	there := map[string]bool{}
	for _, m := range members {
		there[m.Name] = true
	}
	for _, m := range rest.Members() {
		if !there[m.Name] {
			there[m.Name], members = true, append(members, m)
		}
	}
	v = jsonvalue.ObjectValue(members...)
	if len(path) == 1 {
		return v.With(path[0], jsonvalue.ArrayValue(s.items...))
	}
	inner, _ := v.Get(path[0])
	if inner.Kind() != jsonvalue.Object {
		inner = jsonvalue.ObjectValue()
	}
	innerRest, _ := rest.Get(path[0])
	return v.With(path[0], s.join(inner, innerRest, path[1:]))
}

// salvageBudget is how many times the length of a document may be parsed. It keeps the time for
// hostile input linear.
const salvageBudget = 16

type salvage struct {
	data   []byte
	isItem func(jsonvalue.Value) bool
	words  []string
	path   []string
	budget int // bytes that may still be parsed

	items []jsonvalue.Value
	gaps  []Gap
}

func (s *salvage) gap(from, to int) {
	if from < to {
		s.gaps = append(s.gaps, Gap{from, to, len(s.items)})
	}
}

// array returns the offset of the first item of the array with that member name, and whether there
// is one.
func (s *salvage) array(name string) (int, bool) {
	quoted, _ := json.Marshal(name)
	for at := 0; ; {
		i := bytes.Index(s.data[at:], quoted)
		if i < 0 {
			return 0, false
		}
		at += i + len(quoted)
		if i := at - len(quoted); i > 0 && s.data[i-1] == '\\' {
			continue
		}
		if p := s.space(at); p < len(s.data) && s.data[p] == ':' {
			if p = s.space(p + 1); p < len(s.data) && s.data[p] == '[' {
				return p + 1, true
			}
		}
	}
}

func (s *salvage) space(at int) int {
	for at < len(s.data) && bytes.IndexByte([]byte(" \t\r\n"), s.data[at]) >= 0 {
		at++
	}
	return at
}

// read reads the items from an offset on. It returns the offset of the array's end, or -1 if that
// is unknown.
func (s *salvage) read(at int) int {
	lost := -1    // start of the unreadable range
	perhaps := -1 // where the array may end, if no item follows
	for at >= 0 {
		at = s.space(at)
		if lost < 0 && at < len(s.data) && s.data[at] == ']' {
			// This may not be the array's end but a part of a damaged item. But if it is the end,
			// another document may follow, whose items must not be read.
			if _, left := s.behind(at); left < 0 || left >= len(s.data) || s.data[left] == '{' {
				return at
			}
			perhaps, lost = at, at
			at = s.next(at + 1)
			continue
		}
		item, end, whole := s.item(at)
		after := s.space(end)
		divided := whole && after < len(s.data) && (s.data[after] == ',' || s.data[after] == ']')
		switch {
		case divided && lost < 0 || s.isItem(item):
			if lost >= 0 {
				s.gap(lost, at)
			}
			s.items, lost, perhaps = append(s.items, item), -1, -1
			if divided {
				if at = after; s.data[at] == ',' {
					at++
				}
				continue
			}
			lost = end
		case lost < 0:
			lost = at
		}
		at = s.next(at + 1) // if an item lacks a quote or bracket, the next item may seem to be inside it
	}
	if perhaps >= 0 {
		return perhaps
	}
	return s.end(lost)
}

// end searches for the end of the array after a damaged item, and records the range before it as
// unreadable. It returns the offset of the end, or -1 if it finds none.
func (s *salvage) end(lost int) int {
	const maxTries = 64
	from := lost
	for range maxTries {
		i := bytes.IndexByte(s.data[from:], ']')
		if i < 0 || s.budget < 0 {
			break
		}
		end := from + i
		from = end + 1
		if _, left := s.behind(end); left < 0 {
			s.gap(lost, end)
			return end
		}
	}
	s.gap(lost, len(s.data))
	return -1
}

// next returns the offset of the next place from at on where an object may begin, or -1 if there is
// none.
func (s *salvage) next(at int) int {
	for at < len(s.data) && s.budget >= 0 {
		i := bytes.IndexByte(s.data[at:], '{')
		if i < 0 {
			return -1
		}
		if at += i; s.space(at+1) < len(s.data) && s.data[s.space(at+1)] == '"' {
			return at
		}
		at++
	}
	return -1
}

// item reads the value at an offset as far as possible. It returns the offset after it, and whether
// the value is complete.
func (s *salvage) item(at int) (jsonvalue.Value, int, bool) {
	v, err := jsonvalue.ParsePartial(s.data[at:], s.words...)
	if err == nil {
		return v, len(s.data), true
	}
	end := s.offset(at, err)
	s.budget -= 2 * (end - at)
	_, err = jsonvalue.ParsePartial(s.data[at:end], s.words...)
	tooDeep := v.Depth() > jsonvalue.MaxDepth-len(s.path)-1 // as a part of the document
	return v, end, err == nil && !tooDeep
}

// behind reads what follows the array if that ends at end. It returns the objects around the array,
// with the members that follow the array, and the offset at which reading failed, or -1.
func (s *salvage) behind(end int) (jsonvalue.Value, int) {
	var text []byte
	for _, name := range s.path {
		quoted, _ := json.Marshal(name)
		text = append(append(append(text, '{'), quoted...), ':')
	}
	text = append(text, '[')
	before := len(text)
	s.budget -= len(s.data) - end
	text = append(text, s.data[end:]...)
	v, err := jsonvalue.ParsePartial(text, s.words...)
	if err == nil {
		return v, -1
	}
	made := salvage{data: text}
	return v, max(made.offset(0, err)-before, 0) + end
}

// offset returns the offset of the damage that err reports for a parse that began at start.
func (s *salvage) offset(start int, err error) int {
	var where *syntax.Error
	if !errors.As(err, &where) {
		return len(s.data)
	}
	return start + syntax.Offset(s.data[start:], where.Line, where.Column)
}
