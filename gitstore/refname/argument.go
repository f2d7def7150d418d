package refname

import (
	"strings"
	"unicode"
)

// Argument returns a word as an argument for a POSIX shell, for commands in messages. It quotes names
// with characters that shells interpret, which people may have chosen who want a command of theirs to be pasted.
func Argument(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./=:@+,%#~", r)
	}
	if word != "" && !strings.ContainsRune("#~=", rune(word[0])) && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
