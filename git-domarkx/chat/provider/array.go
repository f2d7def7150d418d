package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// An Array builds a large JSON array that is a member of a JSON object.
type Array struct {
	b     []byte // the object up to the array, and the items so far
	first int    // offset of the first item in b
	tail  []byte // the rest of the object after the array
}

// NewArray returns an empty array that replaces a member of a JSON object. size is an estimate of
// the array's size in bytes.
func NewArray(object []byte, member string, size int) (*Array, error) {
	object, err := SetMember(object, member, []byte("[]"))
	if err != nil {
		return nil, err
	}
	members, err := Members(object)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, m := range members {
		if m.Name == member {
			at = m.start
		}
	}
	a := &Array{b: make([]byte, 0, len(object)+size), tail: object[at+len("[]"):]}
	a.b = append(append(a.b, object[:at]...), '[')
	a.first = len(a.b)
	return a, nil
}

// Add appends JSON values unchanged.
func (a *Array) Add(values ...[]byte) {
	for _, v := range values {
		a.next()
		a.b = append(a.b, v...)
	}
}

// Marshal appends the JSON encoding of v.
func (a *Array) Marshal(v any) error {
	encoded, err := json.Marshal(v)
	if err == nil {
		a.Add(encoded)
	}
	return err
}

// Text appends an item that consists of before, text as a JSON string, and after. It is much faster
// than encoding a message.
func (a *Array) Text(before, text, after string) {
	a.next()
	a.b = append(a.b, before...)
	a.b = appendString(a.b, text)
	a.b = append(a.b, after...)
}

// Items appends an item that consists of before, the JSON values separated by commas, and after.
func (a *Array) Items(before string, items [][]byte, after string) {
	a.next()
	a.b = append(a.b, before...)
	for i, item := range items {
		if i > 0 {
			a.b = append(a.b, ',')
		}
		a.b = append(a.b, item...)
	}
	a.b = append(a.b, after...)
}

func (a *Array) next() {
	if len(a.b) > a.first {
		a.b = append(a.b, ',')
	}
}

// Object returns the whole object. After that, nothing can be added.
func (a *Array) Object() []byte { return append(append(a.b, ']'), a.tail...) }

func appendString(b []byte, text string) []byte {
	start := len(b)
	b = append(b, '"')
	done, usual := 0, false
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf && !usual:
			if usual = utf8.ValidString(text) && !strings.Contains(text, "\u2028") && !strings.Contains(text, "\u2029"); !usual {
				return appendUnusual(b[:start], text)
			}
		case c < ' ' && c != '\n' && c != '\t' && c != '\r':
			return appendUnusual(b[:start], text)
		case c == '"' || c == '\\' || c < ' ':
			b = append(b, text[done:i]...)
			b = append(b, '\\', escapes[c])
			done = i + 1
		}
	}
	return append(append(b, text[done:]...), '"')
}

// escapes maps a character to the second character of its short escape.
var escapes = [...]byte{'\n': 'n', '\t': 't', '\r': 'r', '"': '"', '\\': '\\'}

// appendUnusual is like appendString, but accepts any text.
func appendUnusual(b []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // encoding a string cannot fail
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// SizeOf returns an estimate of a conversation's size as JSON, in bytes.
func SizeOf(messages []Message) int {
	size := 0
	for _, m := range messages {
		size += 100
		if m.Raw != nil {
			for _, item := range m.Raw.Items {
				size += len(item) + 1
			}
			continue
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				size += len(p.Text) + len(p.Text)/16
			case Call:
				size += 150 + len(p.Arguments)
			case Result:
				size += 150 + len(p.Text) + len(p.Text)/16
			case Image:
				size += 150 + len(p.Data)*4/3
			}
		}
	}
	return size
}
