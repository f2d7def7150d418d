package secrets

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxNested is the maximum nesting of JSON inside of JSON strings that is searched.
const maxNested = 8

// minKey is the length of the shortest name of a member that can be a secret.
const minKey = 16

// A jsonString is a string in a line of JSON.
type jsonString struct {
	start, end int // offsets of its content, without the quotes
	key        bool
	escaped    bool
}

// A jsonScan searches the values of JSON.
type jsonScan struct {
	rules    *ruleSet
	depth    int
	name     string // name of the current member
	variable string // value of a member "name", which is the name for the next member "value"
	previous string // the previous item of an array, such as an option of a command
	strings  []jsonString
	found    []match
}

// json returns the secrets in JSON or in lines of JSON. It searches strings and JSON inside of
// strings, and uses the names of members as context. It does not search the values of ids,
// signatures, digests and images. It scans everything that is not JSON, such as a damaged line, as
// text. Since no string of JSON contains a line end, each line can be read by itself.
func (s *ruleSet) json(data []byte) []match {
	scan := &jsonScan{rules: s}
	scan.read(data)
	return resolve(scan.found)
}

// read appends the secrets in data, whose lines are JSON or other text.
func (j *jsonScan) read(data []byte) {
	text := -1 // start of the current lines of text; -1 for none
	flush := func(end int) {
		if text >= 0 {
			for _, m := range j.rules.text(data[text:end], strong|weak) {
				m.start, m.end = m.start+text, m.end+text
				j.found = append(j.found, m)
			}
			text = -1
		}
	}
	at := 0
	for line := range bytes.Lines(data) {
		if j.split(line) {
			flush(at)
			j.line(line, at)
		} else if text < 0 {
			text = at
		}
		at += len(line)
	}
	flush(len(data))
}

// split finds the strings in a line, and reports whether the line consists of JSON. The last string
// may lack its closing quote, as in a damaged file.
func (j *jsonScan) split(line []byte) bool {
	j.strings = j.strings[:0]
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ':' && len(j.strings) > 0:
			last := &j.strings[len(j.strings)-1]
			last.key = last.key || len(bytes.TrimSpace(line[last.end+1:i])) == 0
			continue
		case c != '"' && strings.IndexByte(" \t\r\n,:{}[]0123456789+-.eEtrufalsn", c) < 0:
			return false
		case c != '"':
			continue
		}
		s := jsonString{start: i + 1}
		for i++; i < len(line); i++ {
			if line[i] == '"' {
				break
			}
			if line[i] == '\\' {
				s.escaped = true
				i++
			} else if line[i] < ' ' && line[i] != '\t' {
				break
			}
		}
		s.end = min(i, len(line))
		j.strings = append(j.strings, s)
	}
	return len(j.strings) > 0 || len(bytes.TrimSpace(line)) > 0
}

// line appends the secrets in the strings of a line. offset is the offset of the line.
func (j *jsonScan) line(line []byte, offset int) {
	list := j.strings
	j.strings = nil // nested values use j.strings while the list is in use
	for _, s := range list {
		raw := line[s.start:s.end]
		decoded, escapes := raw, []escape(nil)
		if s.escaped {
			decoded, escapes = unescape(raw)
		}
		before := len(j.found)
		switch {
		case !s.key:
			j.value(decoded)
		case len(decoded) >= minKey:
			j.found = append(j.found, j.rules.text(decoded, strong)...)
			fallthrough
		default:
			j.name, j.previous = string(decoded[:min(len(decoded), 200)]), ""
		}
		for i := before; i < len(j.found); i++ {
			m := &j.found[i]
			if m.secret == nil && escapes != nil {
				m.secret = decoded[m.start:m.end]
			}
			m.start, m.end = rawPosition(escapes, m.start)+offset+s.start, rawPosition(escapes, m.end)+offset+s.start
		}
	}
	j.strings = list[:0]
}

func (j *jsonScan) value(value []byte) {
	name, variable, previous := j.name, j.variable, j.previous
	j.previous = ""
	if len(value) <= 200 {
		j.previous = string(value)
		switch name {
		case "name", "key", "env", "variable", "field", "header", "Name", "Key":
			j.variable = string(value)
		case "value", "Value", "default":
		default:
			j.variable = ""
		}
	}
	if len(value) < 4 || opaqueName(name) {
		return
	}
	if isEncoded(name, value) {
		j.found = append(j.found, j.rules.encodedFile(value)...)
		return
	}
	if trimmed := bytes.TrimSpace(value); j.depth < maxNested && len(trimmed) > 1 && (trimmed[0] == '{' && trimmed[len(trimmed)-1] == '}' || trimmed[0] == '[' && trimmed[len(trimmed)-1] == ']') {
		nested := &jsonScan{rules: j.rules, depth: j.depth + 1, name: name}
		nested.read(value)
		j.found = append(j.found, resolve(nested.found)...)
		return
	}
	before := len(j.found)
	for _, context := range []string{name, variable, previous} {
		switch {
		case context == variable && name != "value" && name != "Value" && name != "default":
			continue
		case context == previous && !strings.HasPrefix(previous, "-"):
			continue
		}
		if m, ok := namedValue(context, value); ok {
			j.found = append(j.found, m)
			break
		}
	}
	kinds := strong | weak
	if namesID(name) {
		if looksLikeID(string(value)) {
			return
		}
		kinds = strong
	}
	j.found = append(j.found, j.rules.text(value, kinds)...)
	if len(j.found) > before+1 {
		j.found = append(j.found[:before], resolve(j.found[before:])...)
	}
}

// namedValue returns the secret in a value whose name suggests one.
func namedValue(name string, value []byte) (match, bool) {
	if name == "" {
		return match{}, false
	}
	text := string(value[:min(len(value), maxValue+1)])
	switch low := strings.ToLower(strings.TrimLeft(name, "-")); low {
	case "authorization", "proxy-authorization", "x-api-key", "x-auth-token", "private-token", "x-goog-api-key", "api-key":
		scheme, credential, ok := strings.Cut(text, " ")
		if !ok {
			scheme, credential = "", text
		}
		if isCredential(credential, strings.ToLower(scheme)) && !strings.ContainsAny(credential, " \n${<") {
			return match{rule: "authorization-header", start: len(text) - len(credential), end: len(value), weak: true}, len(text) == len(value)
		}
		return match{}, false
	}
	kind := kindOf(name)
	if kind == plainName || namesID(name) || !isSecretValue(text, name, kind, literal, true) {
		return match{}, false
	}
	return match{rule: "password-assignment", end: len(value), weak: true}, true
}

// isEncoded reports whether a value is binary data in base64, such as an image.
func isEncoded(name string, value []byte) bool {
	if bytes.HasPrefix(value, []byte("data:")) {
		head := value[:min(len(value), 120)]
		return bytes.Contains(head, []byte(";base64,"))
	}
	least := 4096
	switch name {
	case "data", "base64", "bytes", "image", "blob", "content_base64", "thinkingSignature", "thoughtSignature", "thought_signature":
		least = 64
	}
	if len(value) < least {
		return false
	}
	for _, c := range value {
		if !isBase64(c) && c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

// An escape relates an offset in a decoded string to one in the literal: the offsets of the text
// after an escape.
type escape struct{ decoded, raw int }

// rawPosition converts an offset in the decoded string to one in the literal.
func rawPosition(escapes []escape, at int) int {
	n := sort.Search(len(escapes), func(i int) bool { return escapes[i].decoded > at })
	if n == 0 {
		return at
	}
	return escapes[n-1].raw + at - escapes[n-1].decoded
}

// unescape decodes the escapes of a string. An invalid escape stays unchanged.
func unescape(raw []byte) ([]byte, []escape) {
	decoded := make([]byte, 0, len(raw))
	escapes := make([]escape, 0, 8)
	for i := 0; i < len(raw); {
		n := bytes.IndexByte(raw[i:], '\\')
		if n < 0 || i+n+1 >= len(raw) {
			decoded = append(decoded, raw[i:]...)
			break
		}
		decoded = append(decoded, raw[i:i+n]...)
		i += n
		size := 2
		c := raw[i+1]
		if k := strings.IndexByte("ntrbf", c); k >= 0 {
			c = "\n\t\r  "[k]
		}
		if c == 'u' {
			var r rune
			r, size = unicodeEscape(raw[i:])
			decoded = utf8.AppendRune(decoded, r)
		} else {
			decoded = append(decoded, c)
		}
		i += size
		escapes = append(escapes, escape{len(decoded), i})
	}
	return decoded, escapes
}

// unicodeEscape decodes \uxxxx, or a surrogate pair of two, at the beginning of raw.
func unicodeEscape(raw []byte) (rune, int) {
	r, ok := hex4(raw)
	if !ok {
		return utf8.RuneError, 2
	}
	if second, ok := hex4(raw[6:]); ok {
		if both := utf16.DecodeRune(r, second); both != utf8.RuneError {
			return both, 12
		}
	}
	return r, 6
}

func hex4(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}
