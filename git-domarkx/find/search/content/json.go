package content

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// scanJSON appends JSON to out without the escapes in strings. It calls found with each value that is a string or number:
// the name of the member that is the value, or that contains the value in arrays; the number of objects and arrays that
// contain it; and the value, without quotes. It also copies text that is not valid JSON.
func scanJSON(out []byte, data string, found func(key string, depth int, isString bool, value []byte)) []byte {
	key, depth := "", 0
	for data != "" {
		start := len(out)
		switch c := data[0]; {
		case c == '"':
			out, data = appendString(append(out, '"'), data[1:])
			value := out[start+1:]
			if strings.HasPrefix(data, `"`) {
				out, data = append(out, '"'), data[1:]
			}
			if strings.HasPrefix(strings.TrimLeft(data, " \n\t\r"), ":") {
				key = string(value)
			} else {
				found(key, depth, true, value)
			}
			continue
		case c == '-' || c >= '0' && c <= '9':
			rest := strings.TrimLeft(data, "+-.eE0123456789")
			out, data = append(out, data[:len(data)-len(rest)]...), rest
			found(key, depth, false, out[start:])
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		out, data = append(out, data[0]), data[1:]
	}
	return out
}

// appendString appends a string up to its closing quote, without escapes, and returns the rest.
func appendString(out []byte, data string) ([]byte, string) {
	for {
		n := strings.IndexAny(data, "\"\\")
		if n < 0 {
			return append(out, data...), ""
		}
		if out, data = append(out, data[:n]...), data[n:]; data[0] == '"' {
			return out, data
		}
		out, data = appendEscaped(out, data[1:])
	}
}

// appendEscaped appends the character that an escape stands for, given what follows the backslash, and returns the rest.
func appendEscaped(out []byte, data string) ([]byte, string) {
	if data == "" {
		return append(out, '\\'), ""
	}
	c, rest := data[0], data[1:]
	if i := strings.IndexByte("ntrbf", c); i >= 0 {
		c = "\n\t\r\b\f"[i]
	}
	if c != 'u' {
		return append(out, c), rest
	}
	r, ok := hex4(rest)
	if !ok {
		return append(out, '\\', 'u'), rest
	}
	rest = rest[4:]
	if low, ok := strings.CutPrefix(rest, `\u`); ok {
		if low, ok := hex4(low); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
			r, rest = utf16.DecodeRune(r, low), rest[6:]
		}
	}
	return utf8.AppendRune(out, r), rest
}

func hex4(s string) (rune, bool) {
	n, err := strconv.ParseUint(s[:min(len(s), 4)], 16, 16)
	return rune(n), err == nil && len(s) >= 4
}
