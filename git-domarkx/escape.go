package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/domarkx/domarkx/format"
)

// field returns s as one field of a tab-separated line. It escapes backslashes as \\, and what could control a terminal: tabs
// and line ends as \t, \n and \r, others as \xNN and \uNNNN. Bytes that are not UTF-8 stay as they are.
func field(s string) string {
	return escapeRunes(s, func(r rune) bool { return r == '\\' || unsafeOnTerminal(r) })
}

// visible escapes the characters of s that could control a terminal: those that move the
// cursor, change colours or reverse the text direction.
func visible(s string) string {
	return escapeRunes(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' })
}

// visibleLine is like [visible] but also escapes line ends, for one cell of a table.
func visibleLine(s string) string {
	return escapeRunes(strings.ToValidUTF8(s, "\uFFFD"), unsafeOnTerminal)
}

// oneLine returns s with one space for each run of white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// withoutTabs replaces the tabs in a line by spaces up to the next multiple of eight columns.
func withoutTabs(line string) string {
	const stop = 8
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			spaces := stop - column%stop
			b.WriteString(strings.Repeat(" ", spaces))
			column += spaces
		}
		b.WriteString(part)
		column += uniseg.StringWidth(part)
	}
	return b.String()
}

// displayed returns text of several lines, with escapes for what could control a terminal.
func displayed(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return escapeRunes(s, func(r rune) bool { return unsafeOnTerminal(r) && r != '\n' && r != '\t' })
}

// escapeRunes escapes characters. Bytes that are not UTF-8 stay as they are.
func escapeRunes(s string, bad func(rune) bool) string {
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if bad(r) {
			b.WriteString(escaped(r))
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// escaped returns the escape of a character.
func escaped(r rune) string {
	switch {
	case r == '\\':
		return `\\`
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// unsafeOnTerminal reports whether r is a control character or one that reorders text (Unicode Standard Annex 9).
func unsafeOnTerminal(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// A visibleWriter escapes what could control a terminal, except line ends and tabs, and writes the result to w.
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
	_, err := io.WriteString(v.w, displayed(string(data)))
	return err
}

// incomplete returns how many bytes at the end of data may continue in the next Write: a partial UTF-8 sequence or a CR.
func incomplete(data []byte) int {
	if len(data) > 0 && data[len(data)-1] == '\r' {
		return 1
	}
	return format.Partial(data)
}
