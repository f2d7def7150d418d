package secrets

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// isPlaceholder reports whether a value is written in place of a secret.
func isPlaceholder(value string) bool {
	if value == "" || strings.HasPrefix(value, "[REDACTED:") {
		return true
	}
	low := strings.ToLower(value)
	if strings.Contains(placeholders, " "+strings.Trim(low, "-_.!<>[](){}'\"")+" ") || strings.Trim(value, value[:1]) == "" {
		return true
	}
	for _, part := range []string{"example", "changeme", "change_me", "change-me", "placeholder", "redacted", "xxxx", "****", "....", "…", "your-", "your_",
		"yourp", "yourt", "yours", "youra", "<your", "insert-", "insert_", "replace-", "replace_", "replaceme", "dummy", "not-a-", "${", "{{", "$(", "#{", "%(", "<%"} {
		if strings.Contains(low, part) {
			return true
		}
	}
	switch value[0] {
	case '$', '%', '<', '{', '(':
		return len(value) < 2 || isWord(value[1]) && allWord(value[1:]) || strings.ContainsAny(value[len(value)-1:], ">})%")
	}
	return strings.HasPrefix(low, "abcdef") || strings.HasPrefix(low, "012345") || strings.HasPrefix(low, "12345")
}

// placeholders are complete values that are not secrets.
const placeholders = " secret password passwd passphrase passw0rd pass pwd token key apikey api_key api-key username user test testing test123 tests foo bar foobar baz qux" +
	" none null nil true false undefined string text number bool boolean hidden masked removed omitted empty required optional unset set value admin root guest" +
	" default sample mypassword mysecret mytoken my-secret my-token my-password secret123 password1 password123 bearer basic" +
	" asdf qwerty todo tbd fixme n/a na unknown some-password some-secret some-token somepassword sometoken supersecret super-secret topsecret "

// namesSecret reports whether a value is the name of a secret, a path or a file name, and not a
// secret itself.
func namesSecret(value string) bool {
	low := strings.ToLower(value)
	name := strings.TrimRight(low, "0123456789")
	for _, word := range []string{"key", "token", "secret", "password", "passwd", "_string", ".b64", ".pem", ".crt", ".cer", ".txt", ".json", ".yaml", ".yml", ".env"} {
		if (strings.HasSuffix(low, word) || strings.HasSuffix(name, word)) && makeupOf(value).symbols == 0 {
			return true
		}
	}
	return strings.HasPrefix(value, `\u`) || value[0] == '/' && strings.Count(value, "/") > 1 && makeupOf(value).lower > 4 && strings.ContainsAny(value, "{}<>") ||
		strings.Contains(value, "_") && strings.ToUpper(value) == value && allWord(value) && isUpper(value[0]) && makeupOf(value).digits <= 3
}

func allWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !isWord(byte(r)) })
}

// A makeup counts the characters of a value by kind.
type makeup struct{ lower, upper, digits, separators, symbols, blanks int }

func makeupOf(value string) (m makeup) {
	for i := range len(value) {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z':
			m.lower++
		case 'A' <= c && c <= 'Z':
			m.upper++
		case '0' <= c && c <= '9':
			m.digits++
		case c == '-' || c == '_' || c == '.' || c == '/' || c == ':':
			m.separators++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			m.blanks++
		default:
			m.symbols++
		}
	}
	return m
}

func isHex(value string) bool {
	for i := range len(value) {
		if c := value[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return value != ""
}

// isUUID reports whether a value is a UUID, with or without one of idPrefixes.
func isUUID(value string) bool {
	if len(value) > 36 && strings.IndexByte("-_:.", value[len(value)-37]) >= 0 {
		value = value[len(value)-36:]
	}
	return len(value) == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-' && isHex(strings.ReplaceAll(value, "-", ""))
}

// idPrefixes are the prefixes of ids that programs and providers of models create.
const idPrefixes = " toolu srvtoolu call msg req resp chatcmpl cmpl fc rs ws run thread asst file batch sess session gen evt event item org proj user snap ctc ig ses prt part step" +
	" task job trace span container tool message request response conv turn agent node commit blob tree sha1 sha256 sha384 sha512 md5 etag id uuid chunk vec idx "

// looksLikeID reports whether a value has the form of an id or a digest.
func looksLikeID(value string) bool {
	value = strings.Trim(value, `"'=`)
	if isUUID(value) || isHex(value) && len(value) >= 7 {
		return true
	}
	if at := strings.IndexAny(value, "_-:"); at > 0 && strings.Contains(idPrefixes, " "+strings.ToLower(value[:at])+" ") {
		return true
	}
	m := makeupOf(value)
	if m.lower+m.upper == 0 {
		return true // numbers, times and versions
	}
	return len(value) == 26 && m.lower == 0 && m.digits > 0 && m.separators+m.symbols == 0 && (value[0] == '0' || value[0] == '1') // a ULID
}

// isSlug reports whether a value consists of words and numbers with separators, like a name.
func isSlug(value string) bool {
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune("-_./:@ ", r) }) {
		m := makeupOf(strings.TrimLeft(part, "vV"))
		if m.symbols > 0 || m.digits > 0 && m.lower+m.upper > 0 || m.digits > 4 || m.upper > 0 && m.lower > 0 && m.upper > 1+m.lower/3 {
			return false
		}
	}
	return true
}

// isReference reports whether a value without quotes refers to a secret, like an expression in
// code.
func isReference(value string) bool {
	if strings.ContainsAny(value, "()[]{}$<>\\") || strings.HasPrefix(value, "&") || strings.HasPrefix(value, "*") || strings.Contains(value, "::") || strings.Contains(value, "->") {
		return true
	}
	for part := range strings.SplitSeq(value, ".") {
		if part == "" || !allWord(part) || '0' <= part[0] && part[0] <= '9' {
			return false
		}
	}
	m := makeupOf(value)
	return m.digits == 0 || strings.Contains(value, ".") && m.digits <= 2
}

// plausible removes matches inside of long encoded data, such as an image, where any short text
// occurs by chance.
func (s *ruleSet) plausible(found []match, text []byte) []match {
	const longRun, look = 400, 2048
	kept := found[:0]
	for _, m := range found {
		from, to := m.start, m.end
		for from > 0 && from > m.start-look && isBase64(text[from-1]) {
			from--
		}
		for to < len(text) && to < m.end+look && isBase64(text[to]) {
			to++
		}
		if to-from-(m.end-m.start) < longRun || bytes.ContainsAny(text[m.start:m.end], " \n") {
			kept = append(kept, m)
		}
	}
	return kept
}

func isBase64(c byte) bool { return isWord(c) || c == '+' || c == '/' || c == '-' || c == '=' }
