package markdown

import (
	"bytes"
	"unicode/utf8"
)

// valid returns b as a string in which each byte that is not UTF-8 is U+FFFD.
func valid(b []byte) string {
	if !utf8.Valid(b) {
		b = bytes.Map(func(r rune) rune { return r }, b)
	}
	return string(b)
}

// unixLines returns b with LF for each CRLF. It returns b itself if it has none.
func unixLines(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

// chomp returns b without the line end of its last line, as [cutLine] sees it.
func chomp(b []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))
}

// trimBlankLines returns b without the blank lines that it begins and ends with,
// and without the blanks and line ends, also lone CRs, that its last line ends with.
func trimBlankLines(b []byte) []byte {
	for len(b) > 0 {
		line, next := cutLine(b, 0)
		if !isBlank(line) {
			break
		}
		b = b[next:]
	}
	return bytes.TrimRight(b, " \t\r\n")
}

// unescape returns text[start:end] without the bytes at the offsets in slashes,
// which are sorted.
func unescape(text []byte, start, end int, slashes []int) []byte {
	if len(slashes) == 0 {
		return text[start:end]
	}
	buf := make([]byte, 0, end-start)
	for _, at := range slashes {
		buf = append(buf, text[start:at]...)
		start = at + 1
	}
	return append(buf, text[start:end]...)
}

// unquote returns the content of a blockquote: its lines without the marker and
// the one blank after it. Lines without a marker, which continue a paragraph, stay
// as they are.
func unquote(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for line := range bytes.Lines(b) {
		if rest := line[leadingSpaces(line, 3):]; len(rest) > 0 && rest[0] == '>' {
			column := len(line) - len(rest) + 1
			line = rest[1:]
			switch {
			case len(line) == 0:
			case line[0] == ' ':
				line = line[1:]
			case line[0] == '\t':
				out = append(out, "   "[:3-column%4]...)
				line = line[1:]
			}
		}
		out = append(out, line...)
	}
	return out
}

// unindent returns the content of a code block with an indented fence: it removes up to that many
// columns of white space from each line. A partly removed tab leaves spaces.
func unindent(b []byte, indent int) []byte {
	if indent == 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for line := range bytes.Lines(b) {
		spaces := leadingSpaces(line, indent)
		if spaces < indent && spaces < len(line) && line[spaces] == '\t' {
			out = append(out, "    "[:4-indent]...)
			spaces++
		}
		out = append(out, line[spaces:]...)
	}
	return out
}
