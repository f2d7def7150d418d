package jsonvalue

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxIndented is the depth from which values are written on one line, because indentation would
// multiply the size of deeply nested values.
const maxIndented = 20

// AppendJSON appends the value as JSON. With an indent, it writes the items of arrays and objects
// on separate lines, each level indented by one more indent after the prefix, like encoding/json,
// down to the twentieth level. Without an indent, it writes one line without blanks. It escapes
// lone surrogates, quotes, backslashes and characters up to U+001F, and nothing else.
func (v Value) AppendJSON(dst []byte, prefix, indent string) []byte {
	return Style{Prefix: prefix, Indent: indent}.Append(dst, v)
}

// A Style is a way to write JSON. The zero Style writes one line without blanks.
type Style struct {
	Prefix, Indent string // see [Value.AppendJSON]
	Deep           bool   // with an Indent, all levels are indented
	Blanks         bool   // without an Indent, a blank follows each comma and colon
	Sorted         bool   // members are sorted by their names
	// String, if not nil, appends a string.
	String func(dst []byte, s string) []byte
}

// Append appends the value as JSON.
func (s Style) Append(dst []byte, v Value) []byte {
	w := jsonWriter{dst, s}
	w.value(&v, 0)
	return w.buf
}

// JSON returns the value as one line.
func (v Value) JSON() string { return string(v.AppendJSON(nil, "", "")) }

// MarshalJSON returns the value as one line. See [encoding/json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil, "", ""), nil }

// UnmarshalJSON sets the value. See [encoding/json.Unmarshaler].
func (v *Value) UnmarshalJSON(data []byte) (err error) {
	*v, err = ParseValue(data)
	return err
}

type jsonWriter struct {
	buf []byte
	Style
}

func (w *jsonWriter) line(depth int) {
	if w.Indent == "" {
		return
	}
	w.buf = append(w.buf, '\n')
	w.buf = append(w.buf, w.Prefix...)
	for range depth {
		w.buf = append(w.buf, w.Indent...)
	}
}

// next begins an item or a member.
func (w *jsonWriter) next(i, depth int) {
	if i > 0 {
		w.buf = append(w.buf, ',')
		if w.Blanks {
			w.buf = append(w.buf, ' ')
		}
	}
	w.line(depth)
}

func (w *jsonWriter) string(s string) {
	if w.String != nil {
		w.buf = w.String(w.buf, s)
	} else {
		w.buf = appendJSONString(w.buf, s)
	}
}

func (w *jsonWriter) value(v *Value, depth int) {
	if depth == maxIndented && w.Indent != "" && !w.Deep {
		w.buf = Style{}.Append(w.buf, *v)
		return
	}
	switch v.kind {
	case Null:
		w.buf = append(w.buf, "null"...)
	case Bool, Number:
		w.buf = append(w.buf, v.text...)
	case String:
		w.string(v.text)
	case Array:
		items := v.Items()
		w.buf = append(w.buf, '[')
		for i := range items {
			w.next(i, depth+1)
			w.value(&items[i], depth+1)
		}
		if len(items) > 0 {
			w.line(depth)
		}
		w.buf = append(w.buf, ']')
	case Object:
		members := v.Members()
		if w.Sorted {
			members = slices.Clone(members)
			slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		}
		w.buf = append(w.buf, '{')
		for i := range members {
			w.next(i, depth+1)
			w.string(members[i].Name)
			w.buf = append(w.buf, ':')
			if w.Indent != "" || w.Blanks {
				w.buf = append(w.buf, ' ')
			}
			w.value(&members[i].Value, depth+1)
		}
		if len(members) > 0 {
			w.line(depth)
		}
		w.buf = append(w.buf, '}')
	}
}

func appendJSONString(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+len(s)/16+2), '"') // with room for some escapes
	for {
		n, ascii := plainRun(s)
		if ascii || utf8.ValidString(s[:n]) {
			dst = append(dst, s[:n]...)
		} else {
			dst = appendWTF8Run(dst, s[:n])
		}
		if n == len(s) {
			break
		}
		for ; n < len(s) && isSpecial(s[n]); n++ {
			switch c := s[n]; c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\t':
				dst = append(dst, '\\', 't')
			case '\r':
				dst = append(dst, '\\', 'r')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
		}
		s = s[n:]
	}
	return append(dst, '"')
}
