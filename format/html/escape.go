package html

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape appends text to dst so that it is text in HTML, also inside a quoted attribute.
func escape(dst *bytes.Buffer, s string) {
	from := 0
	for i := 0; i < len(s); i++ {
		var entity string
		switch s[i] {
		case '&':
			entity = "&amp;"
		case '<':
			entity = "&lt;"
		case '>':
			entity = "&gt;"
		case '"':
			entity = "&quot;"
		case '\'':
			entity = "&#39;"
		default:
			continue
		}
		dst.WriteString(s[from:i])
		dst.WriteString(entity)
		from = i + 1
	}
	dst.WriteString(s[from:])
}

// clean returns text in which nothing is hidden and nothing reorders the text around it: control
// characters become pictures of themselves, characters that change the direction of text their
// numbers, and invalid Unicode the replacement character. Colours of terminals are left out.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
		case r == 0x1b && style(s[i:]) > 0:
			size = style(s[i:])
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == '\n' || r == '\t':
			b.WriteByte(byte(r))
		case r < 0x20:
			b.WriteRune(0x2400 + r)
		case r == 0x7f:
			b.WriteRune(0x2421)
		case isHidden(r):
			b.WriteString("⟨U+")
			number := strconv.FormatInt(int64(r), 16)
			b.WriteString("0000"[min(len(number), 4):] + strings.ToUpper(number))
			if same := repeats(s[i:], size); same > 1 {
				b.WriteString(" ×" + strconv.Itoa(same))
				size *= same
			}
			b.WriteString("⟩")
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// repeats returns how often the first bytes of a text follow each other.
func repeats(s string, size int) int {
	n := 1
	for strings.HasPrefix(s[n*size:], s[:size]) {
		n++
	}
	return n
}

// isClean reports whether a text is printable ASCII or has nothing that clean replaces.
func isClean(s string) bool {
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c < 0x80 || r == utf8.RuneError && size == 1 || isHidden(r) {
			return false
		}
		i += size
	}
	return true
}

// isHidden reports whether a character shows nothing itself and changes how others are shown, or
// must not be in HTML.
func isHidden(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, // control characters
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x206f, // direction
		r >= 0x2028 && r <= 0x2029, r == 0xfeff, r >= 0xfff9 && r <= 0xfffb,
		r >= 0xe0000 && r <= 0xe007f, // tags, which can hide a text in another one
		r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return true
	}
	return false
}

// style returns the length of a sequence that sets colours, at the beginning of s; 0 for none.
func style(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < 32; i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || c == ';' || c == ':':
		case c == 'm' || c == 'K':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// cut returns at most n runes of the first line of a text that is not empty, and "…" if there is more.
func cut(s string, n int) string {
	s = strings.TrimLeft(s, " \t\r\n")
	s, rest, _ := strings.Cut(s, "\n")
	s = strings.TrimRight(s, " \t\r")
	count := 0
	for i := range s {
		if count == n {
			return s[:i] + "…"
		}
		count++
	}
	if strings.TrimSpace(rest) != "" && s != "" {
		return s + " …"
	}
	return s
}

// plain leaves out the commonest marks of Markdown, for a line that is shown without rendering.
func plain(line string) string {
	line = strings.TrimLeft(line, "# ")
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "[")
		text, target, isLink := strings.Cut(rest, "](")
		if !ok || !isLink || strings.Contains(text, "[") {
			if ok && isLink { // perhaps the next bracket begins a link
				b.WriteString(before + "[")
				line = rest
				continue
			}
			b.WriteString(line)
			break
		}
		if image, isImage := strings.CutSuffix(before, "!"); isImage {
			before, text = image, "image: "+text
		}
		b.WriteString(before + text)
		_, line, _ = strings.Cut(target, ")")
	}
	return strings.TrimSpace(strings.NewReplacer("**", "", "`", "").Replace(b.String()))
}
