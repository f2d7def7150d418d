package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Array builds a large JSON array that is the last member of a JSON object.
type Array struct {
	b       bytes.Buffer // the object up to the array, and the items so far
	encoder *json.Encoder
	first   int // offset of the first item in b
}

// NewArray returns an empty array that is added to the JSON encoding of an object, which has other
// members. size is an estimate of the array's size in bytes.
func NewArray(object any, member string, size int) (*Array, error) {
	begin, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	a := &Array{}
	a.b.Grow(len(begin) + size)
	a.b.Write(begin[:len(begin)-1])
	fmt.Fprintf(&a.b, ",%q:[", member)
	a.first = a.b.Len()
	a.encoder = json.NewEncoder(&a.b)
	a.encoder.SetEscapeHTML(false)
	return a, nil
}

// Add appends JSON values unchanged.
func (a *Array) Add(values ...[]byte) {
	for _, v := range values {
		a.next()
		a.b.Write(v)
	}
}

// Marshal appends the JSON encoding of v.
func (a *Array) Marshal(v any) error {
	a.next()
	err := a.encoder.Encode(v)
	a.b.Truncate(a.b.Len() - len("\n"))
	return err
}

// Items appends an item that consists of before, the JSON values separated by commas, and after.
func (a *Array) Items(before string, items [][]byte, after string) {
	a.next()
	a.b.WriteString(before)
	a.b.Write(bytes.Join(items, []byte(",")))
	a.b.WriteString(after)
}

func (a *Array) next() {
	if a.b.Len() > a.first {
		a.b.WriteByte(',')
	}
}

// Object returns the whole object. After that, nothing can be added.
func (a *Array) Object() []byte {
	a.b.WriteString("]}")
	return a.b.Bytes()
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
