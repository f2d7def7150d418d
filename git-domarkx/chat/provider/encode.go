package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// An Object is a JSON object to send.
type Object map[string]any

// Encode returns a value as JSON, without escapes for HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Body returns the JSON of an object with an array as one more member. The items of the array are JSON, and remain
// unchanged.
func Body(o Object, member string, items [][]byte) ([]byte, error) {
	begin, err := Encode(o)
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(begin[:len(begin)-1])
	fmt.Fprintf(b, ",%q:", member)
	b.Write(Join(items))
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Join returns a JSON array of values, which remain unchanged.
func Join(values [][]byte) []byte {
	return append(append([]byte{'['}, bytes.Join(values, []byte(","))...), ']')
}

// Function returns a tool as an object that has its schema under this name.
func (t Tool) Function(schema string) Object {
	o := Object{"name": t.Name, schema: json.RawMessage(t.Schema)}
	if t.Description != "" {
		o["description"] = t.Description
	}
	return o
}
