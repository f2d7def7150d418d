package markdown

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/jsonvalue"
)

// maxYAMLKey is the maximum length of a quoted key that is written; YAML allows 1,024 characters.
const maxYAMLKey = 1000

// fitsYAML reports whether the value can be written as YAML: its strings are
// Unicode, its names short and none of them repeated in one object.
func fitsYAML(v jsonvalue.Value) bool {
	if v.Kind() == jsonvalue.String && !utf8.ValidString(v.Text()) {
		return false
	}
	for _, item := range v.Items() {
		if !fitsYAML(item) {
			return false
		}
	}
	names := make(map[string]bool, len(v.Members()))
	for _, m := range v.Members() {
		if names[m.Name] || !utf8.ValidString(m.Name) || len(appendYAMLQuoted(nil, m.Name)) > maxYAMLKey || !fitsYAML(m.Value) {
			return false
		}
		names[m.Name] = true
	}
	return true
}

// appendYAMLMembers appends the members of an object as lines of a block mapping, with first before
// the first member and prefix before the others.
func appendYAMLMembers(dst []byte, first, prefix string, members []jsonvalue.Member) []byte {
	for _, m := range members {
		dst = append(dst, first...)
		first = prefix
		if isPlainKey(m.Name) {
			dst = append(dst, m.Name...)
		} else {
			dst = appendYAMLQuoted(dst, m.Name)
		}
		dst = append(dst, ": "...)
		if m.Value.Kind() == jsonvalue.String && isPlainYAML(m.Value.Text()) {
			dst = append(dst, m.Value.Text()...)
		} else {
			dst = jsonvalue.Style{Blanks: true, String: appendYAMLQuoted}.Append(dst, m.Value) // flow style
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendYAMLQuoted appends a string in double quotes, escaped as in JSON, and also
// what YAML 1.1 takes for a line end and characters that are not printable.
func appendYAMLQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for _, r := range jsonvalue.StringValue(s).JSON() {
		if r >= 0x7F && r <= 0x9F || r == 0x2028 || r == 0x2029 || r == 0xFEFF || r == 0xFFFE || r == 0xFFFF {
			dst = append(dst, '\\', 'u', hex[r>>12], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// isReservedYAML reports whether some YAML reader would interpret a plain scalar of that spelling as
// something other than a string.
func isReservedYAML(s string) bool {
	return slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
}

var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`) })

// isPlainKey reports whether a name is written without quotes.
func isPlainKey(name string) bool {
	return plainKey().MatchString(name) && !isReservedYAML(name) && len(name) <= maxYAMLKey
}

func isYAMLLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// isPlainYAML reports whether a string is written without quotes: when it surely
// reads as that string everywhere.
func isPlainYAML(s string) bool {
	if s == "" || strings.HasSuffix(s, " ") || isReservedYAML(s) {
		return false
	}
	for i, r := range s {
		switch {
		case isYAMLLetter(r), r == '_', r == '/', isYAMLWord(r):
		case i == 0:
			return false
		case r == ':':
			if i+1 == len(s) || s[i+1] == ' ' {
				return false
			}
		case '0' <= r && r <= '9', strings.ContainsRune(" -.,()+=@'!?&;", r):
		default:
			return false
		}
	}
	return true
}

// isYAMLWord reports whether a character beyond ASCII is surely printable, and no
// kind of space.
func isYAMLWord(r rune) bool {
	return r > 0xA0 && r != 0xAD && r < 0xD800 && r != utf8.RuneError &&
		r != 0x1680 && r != 0x3000 && (r < 0x2000 || r > 0x206F)
}
