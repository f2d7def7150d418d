package jsonvalue

import (
	"strconv"
	"strings"
)

// Nearest returns the value at a JSON pointer (RFC 6901), or if there is none, the innermost
// existing value on the way to it.
func (v Value) Nearest(pointer string) Value {
	for _, token := range PointerTokens(pointer) {
		next, ok := v.Get(token)
		if i, err := strconv.Atoi(token); err == nil && v.kind == Array && i >= 0 && i < len(v.Items()) {
			next, ok = v.Items()[i], true
		}
		if !ok {
			return v
		}
		v = next
	}
	return v
}

// PointerTokens returns the unescaped tokens of a JSON pointer.
func PointerTokens(pointer string) []string {
	tokens := strings.Split(pointer, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}
