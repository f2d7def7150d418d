package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field returns s as one field of a tab-separated line. It escapes tabs, line ends and
// backslashes as \t, \n, \r and \\.
func field(s string) string { return fieldEscapes.Replace(s) }

var fieldEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// visible escapes the characters of s that could control a terminal: those that move the
// cursor, change colours or reverse the text direction.
func visible(s string) string {
	return escapeRunes(s, func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' })
}

// visibleLine is like [visible] but also escapes line ends, for one cell of a table.
func visibleLine(s string) string { return escapeRunes(s, unsafeOnTerminal) }

// oneLine returns s with one space for each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func escapeRunes(s string, bad func(rune) bool) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !bad(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// unsafeOnTerminal reports whether r is a control character or one that
// reorders text (Unicode Standard Annex 9).
func unsafeOnTerminal(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// A visibleWriter escapes what could control a terminal, except line ends and tabs, and
// writes the result to w.
type visibleWriter struct {
	w    io.Writer
	held []byte // an incomplete character or a CR at the end of the last Write
}

func (v *visibleWriter) Write(p []byte) (int, error) {
	data := append(v.held, p...)
	v.held = nil
	if n := incomplete(data); n > 0 {
		v.held = append([]byte(nil), data[len(data)-n:]...)
		data = data[:len(data)-n]
	}
	if err := v.emit(data); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close writes the bytes that are still held.
func (v *visibleWriter) Close() error {
	data := v.held
	v.held = nil
	return v.emit(data)
}

func (v *visibleWriter) emit(data []byte) error {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	text = escapeRunes(text, func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' && r != '\t' })
	_, err := io.WriteString(v.w, text)
	return err
}

// incomplete returns how many bytes at the end of data may continue in the next Write: a
// partial UTF-8 sequence or a CR.
func incomplete(data []byte) int {
	if len(data) > 0 && data[len(data)-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(data); n++ {
		if c := data[len(data)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(data[len(data)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
