package html

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

// escape appends text to dst, escaped for HTML text and for quoted attributes.
func escape(dst *bytes.Buffer, s string) { _, _ = entities.WriteString(dst, s) }

// writef writes HTML as [Markupf] returns it.
func writef(dst *bytes.Buffer, text string, args ...any) {
	dst.WriteString(string(Markupf(text, args...)))
}

// clean returns a text without hidden characters and without reordering: control characters become
// visible symbols, characters that change the text's direction become their code points, and invalid
// UTF-8 becomes U+FFFD. Terminal colour sequences are removed.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	if strings.Contains(s, "\x1b[") {
		s = colour().ReplaceAllString(s, "")
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteRune(utf8.RuneError)
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
			same := 1 // how many times it is repeated
			for strings.HasPrefix(s[i+same*size:], s[i:i+size]) {
				same++
			}
			if same > 1 {
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

// isClean reports whether a text consists of printable ASCII or has nothing that clean would replace.
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

// isHidden reports whether a character is invisible but affects other characters, or is not allowed in
// HTML.
func isHidden(r rune) bool {
	return r >= 0x80 && r < 0xa0 || // control characters
		r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x206f || // direction of text
		r >= 0x2028 && r <= 0x2029 || r == 0xfeff || r >= 0xfff9 && r <= 0xfffb ||
		r >= 0xe0000 && r <= 0xe007f || // tag characters, which can encode a hidden text
		r&0xfffe == 0xfffe || r >= 0xfdd0 && r <= 0xfdef
}

// colour matches a terminal colour sequence.
var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;:]{0,29}[mK]`) })

// cut returns at most n runes of the first non-empty line of a text, followed by "…" if the text has
// more.
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

// plain removes the most common Markdown marks, for a line that is shown without rendering.
func plain(line string) string {
	line = strings.TrimLeft(line, "# ")
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "[")
		text, target, isLink := strings.Cut(rest, "](")
		if !ok || !isLink || strings.Contains(text, "[") {
			if ok && isLink { // the next bracket may begin a link
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
