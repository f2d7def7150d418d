package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// systemMessage is the heading that the older dialects use for instructions.
const systemMessage = "system_message"

// cutLine returns the line at offset at, without its line end, and the offset of the next line. A line
// ends with LF or CRLF. The last line may end with a CR alone, to which the LF may still be appended.
// Other CRs, and U+2028, do not end a line.
func cutLine(text []byte, at int) (line []byte, next int) {
	line, next = text[at:], len(text)
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line, next = line[:end], at+end+1
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, next
}

// isBlank reports whether a line has only spaces and tabs.
func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}

// leadingSpaces counts the spaces a line begins with, up to limit.
func leadingSpaces(line []byte, limit int) int {
	n := 0
	for n < len(line) && n < limit && line[n] == ' ' {
		n++
	}
	return n
}

// run returns the number of bytes c at the beginning of s.
func run(s []byte, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// A roleHeading is a level 2 ATX heading that names a role, or that would if the backslashes before it
// were removed.
type roleHeading struct {
	role        string // in lower case
	at          int    // offset of the backslashes, or, if there are none, of the number signs
	backslashes int
}

var roleLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^( {0,3})(\\*)##[ \t]+(user|assistant|system_message)(?:[ \t]+#+)?[ \t]*$`)
})

// matchRole matches a heading that begins a message, possibly escaped. The caller checks the line's
// position in the document.
func matchRole(line []byte) (roleHeading, bool) {
	if !bytes.Contains(line, []byte("##")) {
		return roleHeading{}, false
	}
	m := roleLine().FindSubmatchIndex(line)
	if m == nil {
		return roleHeading{}, false
	}
	h := roleHeading{role: strings.ToLower(string(line[m[6]:m[7]])), at: m[3], backslashes: m[5] - m[4]}
	return h, slices.Contains([]string{string(domarkx.User), string(domarkx.Assistant), systemMessage}, h.role) // not one with U+017F
}

const includeWord = "[include]("

// A directive is a line that includes a file, or that would if its backslashes were removed.
type directive struct {
	indent      []byte // the white space before it
	quoted      bool   // inside a blockquote
	path        string // as written, with any #N
	at          int    // offset of the backslashes, or, if there are none, of the bracket
	backslashes int
}

// matchDirective matches a line that consists of [include](path), in upper or lower case, and optional
// indentation, one quote marker and backslashes.
func matchDirective(line []byte) (directive, bool) {
	var d directive
	end := len(line)
	for end > 0 && (line[end-1] == ' ' || line[end-1] == '\t') {
		end--
	}
	if end == 0 || line[end-1] != ')' {
		return d, false
	}
	i := 0
	blanks := func() {
		for i < end && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
	}
	blanks()
	d.indent = line[:i]
	if i < end && line[i] == '>' {
		d.quoted = true
		i++
		blanks()
	}
	d.at = i
	d.backslashes = run(line[i:end], '\\')
	i += d.backslashes
	if end-i < len(includeWord)+2 || !bytes.EqualFold(line[i:i+len(includeWord)], []byte(includeWord)) {
		return d, false
	}
	path := line[i+len(includeWord) : end-1]
	if bytes.IndexByte(path, ')') >= 0 {
		return d, false
	}
	d.path = string(path)
	return d, true
}

// mayInclude reports whether any line of text could match [matchDirective].
func mayInclude(text []byte) bool {
	for {
		i := bytes.Index(text, []byte("]("))
		if i < 0 {
			return false
		}
		if word := len(includeWord) - 2; i >= word && strings.EqualFold(string(text[i-word:i]), includeWord[:word]) {
			return true
		}
		text = text[i+2:]
	}
}

// begins reports whether any line of text could match [matchRole] or
// [matchDirective].
func begins(text string) bool {
	if strings.Contains(text, "##") {
		for line := range strings.Lines(text) {
			if _, ok := matchRole([]byte(strings.TrimRight(line, "\r\n"))); ok {
				return true
			}
		}
	}
	return mayInclude([]byte(text))
}

// A fence is the opening of a fenced code block.
type fence struct {
	char   byte // '`' or '~'
	length int
	indent int    // columns of indentation, at most 3
	info   []byte // the info string, without blanks around it
}

// matchFence matches the opening of a fenced code block at the start of s, without indentation.
func matchFence(s []byte) (fence, bool) {
	if len(s) < 3 || s[0] != '`' && s[0] != '~' {
		return fence{}, false
	}
	f := fence{char: s[0], length: run(s, s[0])}
	if f.length < 3 {
		return f, false
	}
	info := s[f.length:]
	if f.char == '`' && bytes.IndexByte(info, '`') >= 0 {
		return f, false
	}
	f.info = bytes.Trim(info, " \t")
	return f, true
}

// closedBy reports whether s, a line without its indentation, closes the block that f opened.
func (f fence) closedBy(s []byte) bool {
	n := run(s, f.char)
	return n >= f.length && isBlank(s[n:])
}

// String returns the shortest fence that closes f.
func (f fence) String() string { return strings.Repeat(string(rune(f.char)), f.length) }
