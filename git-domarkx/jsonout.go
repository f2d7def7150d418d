package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// writeJSON writes a JSON array of an object for each item. Strings are as the
// model has them: a lone surrogate is written as its escape.
func writeJSON[T any](w io.Writer, items []T, members func(T) []domarkx.Member) error {
	objects := make([]domarkx.Value, len(items))
	for i, item := range items {
		objects[i] = domarkx.ObjectValue(members(item)...)
	}
	data := domarkx.ArrayValue(objects...).AppendJSON(nil, "", "  ")
	_, err := w.Write(append(escapeControls(data), '\n'))
	return err
}

// escapeControls escapes in a JSON text the characters that JSON leaves as they are and
// that could control a terminal. They stand in strings only.
func escapeControls(data []byte) []byte {
	if !bytes.ContainsFunc(data, unsafeInJSON) {
		return data
	}
	var escaped []byte
	for _, r := range string(data) {
		if unsafeInJSON(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = utf8.AppendRune(escaped, r)
		}
	}
	return escaped
}

// unsafeInJSON reports DEL, the C1 controls and what reorders text: JSON has to escape
// other controls anyway.
func unsafeInJSON(r rune) bool { return r >= 0x7f && unsafeOnTerminal(r) }

func jsonText(name, s string) domarkx.Member {
	return domarkx.Member{Name: name, Value: domarkx.StringValue(s)}
}

func jsonNumber(name string, n int64) domarkx.Member {
	return domarkx.Member{Name: name, Value: domarkx.NumberValue(strconv.FormatInt(n, 10))}
}

// jsonDate is an ISO 8601 date in UTC.
func jsonDate(name string, unix int64) domarkx.Member {
	return jsonText(name, time.Unix(unix, 0).UTC().Format(time.RFC3339))
}
