// Package jsonlines reads files of JSON lines, and files of one JSON object with an array of records.
// It also reads damaged files: it finds the intact records, and reports the bytes that are not part of
// any.
package jsonlines

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A Place is the position of a record in a file.
type Place struct {
	Start int64
	Size  uint32
	Line  int32 // from 1
	// Escaped says that strings in the record contain raw control characters, which must be escaped
	// before parsing.
	Escaped bool
}

// A Reader reads the records of a file.
type Reader struct {
	Lines  int   // bytes read, including any before the part of the file that this reader reads
	End    int64 // bytes read that will not change when the file grows
	Open   bool  // the stable bytes end with a line that has no line end yet
	Unsure bool  // the last line was read in part, and that part may change when the file grows

	path   string
	window *format.Window
	size   int64
	skips  func(name string, kind jsonvalue.Kind) bool
	damage []*syntax.Error
	more   int // number of reports beyond maxReports
}

// NewReader returns a reader of a file. Each may omit the values of members for which skips returns
// true, given the member's name and the kind of the value. A nil skips keeps all values.
func NewReader(f format.File, skips func(name string, kind jsonvalue.Kind) bool) *Reader {
	if skips == nil {
		skips = func(string, jsonvalue.Kind) bool { return false }
	}
	return &Reader{path: f.Path, window: format.NewWindow(f), size: f.Size, skips: skips}
}

// Size returns the size of the file.
func (l *Reader) Size() int64 { return l.size }

// Head returns the beginning of the file, at most [format.HeadSize] bytes, valid until the next use.
func (l *Reader) Head() ([]byte, error) {
	head, err := l.window.Bytes(0, min(l.size, format.HeadSize))
	if err != nil {
		err = l.Failed(err)
	}
	return head, err
}

const bom = "\ufeff"

// maxReports limits the number of reports about one transcript.
const maxReports = 100

// Report adds a report about a line, counted from 1; 0 for none.
func (l *Reader) Report(line int, msg string) {
	if len(l.damage) == maxReports {
		l.more++
		return
	}
	l.damage = append(l.damage, &syntax.Error{Path: l.path, Line: line, Column: 1, Msg: msg})
}

// Lost reports bytes that could not be read.
func (l *Reader) Lost(line int, from, to int64, why error) {
	msg := fmt.Sprintf("bytes %d to %d could not be read; they are kept in the original", from, to-1)
	var syntax *syntax.Error
	if errors.As(why, &syntax) {
		msg += ": " + syntax.Msg
	}
	l.Report(line, msg)
}

// Reports returns the damage that was found.
func (l *Reader) Reports() []*syntax.Error {
	if l.more > 0 {
		return append(l.damage, &syntax.Error{Path: l.path, Msg: fmt.Sprintf("%d more places are damaged", l.more)})
	}
	return l.damage
}

// Failed adds the name of the file to a read error.
func (l *Reader) Failed(err error) error { return fmt.Errorf("%s: %w", l.path, err) }

// Each calls record for each record of the file, in order. The bytes passed are valid only during the
// call.
func (l *Reader) Each(record func(v jsonvalue.Value, raw []byte, at Place) error) error {
	start := int64(0)
	if l.Lines == 0 {
		if head, err := l.window.Bytes(0, min(l.size, int64(len(bom)))); err == nil && string(head) == bom {
			start = int64(len(bom))
			l.damage = append(l.damage, format.MarkedJSON(l.path))
		}
	}
	for start < l.size {
		raw, whole, err := l.window.Line(start)
		if err != nil {
			return l.Failed(err)
		}
		if l.Lines++; l.Lines == math.MaxInt32 || int64(len(raw)) > math.MaxUint32 {
			return &syntax.Error{Path: l.path, Line: l.Lines, Column: 1, Msg: "is too long a line, or one of too many", Err: domarkx.ErrInvalid}
		}
		length := int64(len(raw))
		readable := true
		v, err := jsonvalue.ParseOutline(raw, l.skips)
		switch {
		case err == nil && v.Kind() == jsonvalue.Object:
			err = record(v, raw, Place{Start: start, Size: uint32(len(raw)), Line: int32(l.Lines)})
		case len(bytes.Trim(raw, " \t\r\x00")) == 0:
			err = nil
			if bytes.IndexByte(raw, 0) >= 0 {
				l.Lost(l.Lines, start, start+length, nil)
			}
		case err == nil:
			l.Lost(l.Lines, start, start+length, &syntax.Error{Msg: "is " + v.Kind().String() + ", expected an object"})
		default:
			length, readable, err = l.broken(raw, start, whole, err, record)
		}
		if err != nil {
			return err
		}
		if start += length + 1; whole || readable {
			l.End, l.Open = min(start, l.size), !whole
		}
	}
	return nil
}

// broken reads the readable parts of a damaged line, and returns the line's length. The length
// includes further lines if the line has a raw line end inside a string. It returns false at the end
// of a file that may still be being written.
func (l *Reader) broken(raw []byte, start int64, whole bool, why error, record func(jsonvalue.Value, []byte, Place) error) (int64, bool, error) {
	line, length := l.Lines, int64(len(raw))
	at := Place{Start: start, Size: uint32(length), Line: int32(line), Escaped: true}
	if v, err := jsonvalue.ParseOutline(escape(raw), l.skips); err == nil && v.Kind() == jsonvalue.Object {
		l.Report(line, "has control characters inside of strings, which are read as escaped ones")
		return length, true, record(v, raw, at)
	}
	found, gaps := pieces(raw, l.skips)
	if len(found) == 0 && whole {
		if more, err := l.joined(start, length); err != nil {
			return length, false, err
		} else if more > length {
			raw, err := l.window.Bytes(start, more)
			if err != nil {
				return length, false, l.Failed(err)
			}
			v, err := jsonvalue.ParseOutline(escape(raw), l.skips)
			if err != nil {
				return length, false, l.Failed(err)
			}
			l.Lines += bytes.Count(raw, []byte("\n"))
			l.Report(line, "has line ends inside of strings, which are read as escaped ones")
			at.Size = uint32(more)
			return more, true, record(v, raw, at)
		}
	}
	if !whole && len(found) == 0 {
		l.Lost(line, start, start+length, why)
		return length, false, nil
	}
	l.Unsure = !whole && len(gaps) > 0
	for _, gap := range gaps {
		l.Lost(line, start+int64(gap.from), start+int64(gap.to), why)
	}
	if len(gaps) == 0 && len(found) > 1 {
		l.Report(line, fmt.Sprintf("has %d objects, expected one on a line; they are read one after the other", len(found)))
	} else if len(gaps) == 0 && len(found) == 1 {
		l.Report(line, "has NUL bytes, which are passed over")
	}
	for _, p := range found {
		if err := record(p.value, raw[p.from:p.to], Place{Start: start + int64(p.from), Size: uint32(p.to - p.from), Line: int32(line)}); err != nil {
			return length, false, err
		}
	}
	return length, whole || len(gaps) == 0, nil
}

// These constants limit the search for the rest of a record that has a raw line end inside a string.
const (
	maxJoinedLines = 64
	maxJoinedSize  = 4 << 20
)

// joined returns the length of a record that begins with the line at offset start and continues in the
// following lines. It returns length, the length of that line, if there is none.
func (l *Reader) joined(start, length int64) (int64, error) {
	end := start + length
	for range maxJoinedLines {
		if end+1 >= l.size {
			break
		}
		next, _, err := l.window.Line(end + 1)
		if err != nil {
			return 0, l.Failed(err)
		}
		if bytes.HasPrefix(next, []byte(`{"`)) {
			break
		}
		if end += 1 + int64(len(next)); end-start > maxJoinedSize {
			break
		}
		if !bytes.HasSuffix(bytes.TrimRight(next, " \t\r"), []byte("}")) {
			continue
		}
		raw, err := l.window.Bytes(start, end-start)
		if err != nil {
			return 0, l.Failed(err)
		}
		if v, err := jsonvalue.ParseOutline(escape(raw), l.skips); err == nil && v.Kind() == jsonvalue.Object {
			return end - start, nil
		}
	}
	return length, nil
}

// escape returns the JSON text with the control characters inside strings escaped.
func escape(raw []byte) []byte {
	out := make([]byte, 0, len(raw)+64)
	inside := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case c == '"':
			inside = !inside
		case c == '\\' && inside && i+1 < len(raw):
			out = append(out, c)
			i++
			c = raw[i]
		}
		if c < ' ' && inside {
			out = fmt.Appendf(out, `\u%04x`, c)
			continue
		}
		out = append(out, c)
	}
	return out
}

// A piece is an object on a line that also has something else.
type piece struct {
	from, to int
	value    jsonvalue.Value
}

// resyncBudget is how many times a damaged line may be read, to keep the time linear for hostile
// input.
const resyncBudget = 16

// pieces returns the objects on a line, and the ranges between them that are not objects. An object
// after such a range counts only if the rest of the line consists of objects, because otherwise it may
// be part of the damaged data.
func pieces(raw []byte, skips func(string, jsonvalue.Kind) bool) (found, gaps []piece) {
	budget, lost := resyncBudget*len(raw), -1
	for at := 0; at < len(raw); {
		if c := raw[at]; c == ' ' || c == '\t' || c == '\r' || c == 0 {
			at++
			continue
		}
		if raw[at] == '{' && budget > 0 {
			n := ObjectEnd(raw[at:])
			budget -= n
			if n == 0 {
				budget -= len(raw) - at
			}
			rest := bytes.TrimLeft(raw[at+n:], " \t\r\x00")
			if n > 0 && (len(rest) == 0 || rest[0] == '{') {
				if v, err := jsonvalue.ParseOutline(raw[at:at+n], skips); err == nil {
					if lost >= 0 {
						gaps = append(gaps, piece{from: lost, to: at})
					}
					lost, found = -1, append(found, piece{at, at + n, v})
					at += n
					continue
				}
			}
		}
		if lost < 0 {
			lost = at
		}
		next := bytes.Index(raw[at+1:], []byte(`{"`))
		if next < 0 || budget <= 0 {
			break
		}
		at += 1 + next
	}
	if lost >= 0 {
		gaps = append(gaps, piece{from: lost, to: len(raw)})
	}
	return found, gaps
}

// ObjectEnd returns the end of the JSON object at the start of s, or 0 if there is none.
func ObjectEnd(s []byte) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
		if depth == 0 {
			return 0
		}
	}
	return 0
}

// errChanged reports that a record has changed since it was first read.
var errChanged = fmt.Errorf("%w: the file changed while it was read; import it again", domarkx.ErrInvalid)

// At reads the whole record at a place. The error wraps errChanged if the record has changed since it
// was first read.
func (l *Reader) At(p Place) (jsonvalue.Value, error) {
	raw, err := l.window.Bytes(p.Start, int64(p.Size))
	if err != nil {
		return jsonvalue.Value{}, l.Failed(err)
	}
	if p.Escaped {
		raw = escape(raw)
	}
	v, err := jsonvalue.ParseValue(raw)
	if err != nil || v.Kind() != jsonvalue.Object {
		return v, l.Failed(errChanged)
	}
	return v, nil
}
