package markdown

import (
	"math/big"
	"strings"
)

// isJSONNumber reports whether s is a number of RFC 8259.
func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	s = s[n:]
	if strings.HasPrefix(s, ".") {
		n = digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// jsonNumber converts a number of YAML's core schema to JSON. It keeps the spelling if JSON allows
// it, removes a plus sign, adds digits around the point, and converts hexadecimal (0x) and octal
// (0o) to decimal.
func jsonNumber(s string) (string, bool) {
	if isJSONNumber(s) {
		return s, true
	}
	const longest = 64
	if base := map[string]int{"0x": 16, "0o": 8}[s[:min(2, len(s))]]; base != 0 && len(s) <= longest && !strings.ContainsAny(s[2:], "+-_") {
		n, ok := new(big.Int).SetString(s[2:], base)
		if !ok {
			return "", false
		}
		return n.String(), true
	}
	sign := ""
	if t, ok := strings.CutPrefix(s, "+"); ok {
		s = t
	} else if t, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", t
	}
	whole := s[:digits(s)]
	if rest, ok := strings.CutPrefix(s[len(whole):], "."); ok {
		fraction := rest[:digits(rest)]
		if whole == "" && fraction == "" {
			return "", false
		}
		s = orZero(whole) + "." + orZero(fraction) + rest[len(fraction):]
	}
	return sign + s, isJSONNumber(s) && !strings.HasPrefix(s, "-")
}

func orZero(digits string) string {
	if digits == "" {
		return "0"
	}
	return digits
}
