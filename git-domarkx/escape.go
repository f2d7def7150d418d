package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field returns s as one field of a tab-separated line: tabs, line ends and
// backslashes are escaped as \t, \n, \r and \\, and what is not UTF-8 is U+FFFD.
func field(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return fieldEscapes.Replace(s)
}

var fieldEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// visible returns s as it can stand in a line on a terminal: no character of it
// moves the cursor, changes a colour or turns the direction of writing.
func visible(s string) string {
	return escapeRunes(s, func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' })
}

// visibleLine is [visible] for one cell of a table: line ends are escaped too.
func visibleLine(s string) string { return escapeRunes(s, unsafeOnTerminal) }

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

// A visibleWriter passes text on to a terminal, with what could control the
// terminal made visible; line ends and tabs stay.
type visibleWriter struct {
	w    io.Writer
	held []byte // the beginning of a character, or a CR, whose end is not here yet
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

// Close writes what was held back.
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

// incomplete returns how many bytes at the end of data wait for their rest.
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
