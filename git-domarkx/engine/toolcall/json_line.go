package toolcall

import "github.com/domarkx/domarkx"

// JSONLine returns a value as JSON on one line, with a space after each comma and colon. Calls
// and their results are written in this form.
func JSONLine(v domarkx.Value) string { return string(appendJSONLine(nil, v)) }

func appendJSONLine(dst []byte, v domarkx.Value) []byte {
	separate := func(i int) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
	}
	switch v.Kind() {
	case domarkx.Array:
		dst = append(dst, '[')
		for i, item := range v.Items() {
			separate(i)
			dst = appendJSONLine(dst, item)
		}
		return append(dst, ']')
	case domarkx.Object:
		dst = append(dst, '{')
		for i, m := range v.Members() {
			separate(i)
			dst = domarkx.StringValue(m.Name).AppendJSON(dst, "", "")
			dst = appendJSONLine(append(dst, ": "...), m.Value)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst, "", "")
}
