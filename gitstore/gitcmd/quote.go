package gitcmd

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// QuotedPath quotes a path as Git does with core.quotePath off: paths with control characters,
// quotes or backslashes are put in double quotes with C escapes. So is invalid UTF-8, which Git prints.
func QuotedPath(path string) string {
	plain := utf8.ValidString(path) && strings.IndexFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }) < 0
	if plain {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); {
		r, size := utf8.DecodeRuneInString(path[i:])
		c := path[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= '\a' && c <= '\r':
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c < ' ' || c == 0x7f || r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteString(path[i : i+size])
		}
		i += size
	}
	return b.String() + `"`
}

// UnquotedPath undoes Git's quoting of a path.
func UnquotedPath(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && name[0] == '"' {
		return plain
	}
	return name
}
