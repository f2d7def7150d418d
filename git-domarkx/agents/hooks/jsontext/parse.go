package jsontext

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// A SyntaxError says where a text is wrong.
type SyntaxError struct {
	Line, Column int // from 1
	Msg          string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg) }

// errorAt returns an error at a place of the text.
func (e *Edit) errorAt(at int, format string, args ...any) *SyntaxError {
	before := e.data[:at]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &SyntaxError{1 + bytes.Count(before, []byte{'\n'}), 1 + utf8.RuneCount(before[line:]), fmt.Sprintf(format, args...)}
}

// New returns an edit of a text, whose value must be an object. Comments, trailing commas and a byte
// order mark are allowed. The error is a *[SyntaxError].
func New(data []byte) (*Edit, error) {
	e := &Edit{data: data}
	if rest, ok := bytes.CutPrefix(data, []byte(mark)); ok {
		e.mark, e.data = mark, rest
	}
	if at := tooDeep(e.data); at >= 0 {
		return nil, e.errorAt(at, "values are nested more than %d deep", maxDepth)
	}
	var err error
	if e.root, err = hujson.Parse(append(bytes.Clone(e.data), '\n')); err != nil { // only a line end ends a comment
		bad := &SyntaxError{Line: 1, Column: 1, Msg: err.Error()}
		_, _ = fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &bad.Line, &bad.Column)
		if _, rest, ok := strings.Cut(err.Error(), ", column "); ok {
			_, bad.Msg, _ = strings.Cut(rest, ": ")
		}
		return nil, bad
	}
	e.root.AfterExtra = e.root.AfterExtra[:len(e.root.AfterExtra)-1]
	if e.root.Value.Kind() != '{' {
		return nil, e.errorAt(e.root.StartOffset, "expected an object")
	}
	for v := range e.root.All() {
		object, _ := v.Value.(*hujson.Object)
		names := map[string]bool{}
		for i, name := range Names(v) {
			if names[name] { // programs disagree about which one counts
				return nil, e.errorAt(object.Members[i].Name.StartOffset, "the name %q is there twice", name)
			}
			names[name] = true
		}
	}
	return e, nil
}

const mark = "\xef\xbb\xbf"

// maxDepth limits how deep values may be nested, because the parser recurses.
const maxDepth = 200

// token matches strings, comments, and brackets outside of these.
var token = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[][{}]`)
})

// tooDeep returns the place of the first value that is nested too deep, or -1.
func tooDeep(data []byte) int {
	depth := 0
	for _, at := range token().FindAllIndex(data, -1) {
		switch data[at[0]] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return at[0]
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

func parsed(text string) (hujson.ValueTrimmed, error) {
	v, err := hujson.Parse([]byte(text))
	return v.Value, err
}

// parts are the members of an object or the items of an array.
type parts struct {
	starts  []int           // where each name begins, or else the value
	befores []*hujson.Extra // before each of them
	values  []*hujson.Value
	after   *hujson.Extra // before the closing bracket
}

func partsOf(v *hujson.Value) (p parts) {
	if v == nil {
		return p
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		p.after = &c.AfterExtra
		for i := range c.Members {
			m := &c.Members[i]
			p.starts, p.befores, p.values = append(p.starts, m.Name.StartOffset), append(p.befores, &m.Name.BeforeExtra), append(p.values, &m.Value)
		}
	case *hujson.Array:
		p.after = &c.AfterExtra
		for i := range c.Elements {
			m := &c.Elements[i]
			p.starts, p.befores, p.values = append(p.starts, m.StartOffset), append(p.befores, &m.BeforeExtra), append(p.values, m)
		}
	}
	return p
}

// Member returns the member with a name, or nil.
func Member(v *hujson.Value, name string) *hujson.Value {
	for i, n := range Names(v) {
		if n == name {
			return partsOf(v).values[i]
		}
	}
	return nil
}

// Items returns the items of an array.
func Items(v *hujson.Value) []*hujson.Value {
	if v == nil || v.Value.Kind() != '[' {
		return nil
	}
	return partsOf(v).values
}

// Names returns the names of an object's members.
func Names(v *hujson.Value) (names []string) {
	if v == nil || v.Value.Kind() != '{' {
		return nil
	}
	for _, m := range v.Value.(*hujson.Object).Members {
		names = append(names, m.Name.Value.(hujson.Literal).String())
	}
	return names
}

// Text returns the text of a string, or "".
func Text(v *hujson.Value) string {
	if v == nil || v.Value.Kind() != '"' {
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// IsBare reports whether a value is an object or an array without parts and comments.
func IsBare(v *hujson.Value) bool {
	p := partsOf(v)
	return p.after != nil && len(p.values) == 0 && len(bytes.TrimSpace(*p.after)) == 0
}
