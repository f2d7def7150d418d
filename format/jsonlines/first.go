package jsonlines

import (
	"bytes"

	"github.com/domarkx/domarkx"
)

// First returns the first object of JSON lines, or its readable part if head ends inside it.
// Damaged lines may precede it, but text may not.
func First(head []byte) domarkx.Value {
	head = bytes.TrimPrefix(head, []byte(bom))
	damaged := false
	for rest := head; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		line = bytes.Trim(line, " \t\r\x00")
		if len(line) > 0 {
			if line[0] != '{' && !damaged {
				return domarkx.Value{}
			}
			if v, err := domarkx.ParsePartial(line); err == nil || !whole {
				return v
			}
			if bytes.Equal(line, []byte("{")) { // an object on several lines
				v, _ := domarkx.ParsePartial(rest)
				return v
			}
			damaged = true
			if v, err := domarkx.ParseValue(escape(line)); err == nil {
				return v
			}
			if found, _ := pieces(line, func(string, domarkx.Kind) bool { return false }); len(found) > 0 {
				return found[0].value
			}
		}
		rest = after
	}
	return domarkx.Value{}
}
