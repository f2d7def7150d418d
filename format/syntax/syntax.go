// Package syntax says where a document is wrong. All formats report their errors with it.
package syntax

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An Error describes an error in a document: its position, and the expected content.
type Error struct {
	Path    string // as the user named it; "" when unknown
	Line    int    // from 1; 0 when unknown
	Column  int    // from 1, in Unicode code points; 0 when unknown
	Pointer string // JSON pointer (RFC 6901) of the offending value; "" when none
	Msg     string // what is wrong and what was expected
	Err     error  // the error that errors.Is finds, or nil
}

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// Error returns PATH:LINE:COLUMN: MESSAGE, without the parts that are unknown.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Path != "" {
		b.WriteString(e.Path + ":")
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, "%d:", e.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Pointer != "" {
		b.WriteString(e.Pointer + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Article returns the name of a type of JSON with its article, for messages.
func Article(name string) string {
	switch name {
	case "null":
		return name
	case "array", "object", "integer":
		return "an " + name
	}
	return "a " + name
}

// Position returns the line and the column (from 1, in Unicode code points) of a
// byte offset in data; an offset past the end counts as the end.
func Position(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset, len(data)))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// Offset returns the byte offset of a line and column, as [Position] counts them; that of the end if
// data is shorter.
func Offset(data []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(data[at:], '\n')
		if i < 0 {
			return len(data)
		}
		at += i + 1
	}
	for ; column > 1 && at < len(data); column-- {
		_, size := utf8.DecodeRune(data[at:])
		at += size
	}
	return at
}
