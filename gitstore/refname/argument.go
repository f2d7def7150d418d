package refname

import (
	"strings"
	"unicode"
)

// Argument returns a word as an argument for a POSIX shell, for commands that messages suggest. It quotes words with
// characters that shells interpret: users paste these commands, and a session from a remote may be named "b$(id)".
func Argument(word string) string {
	special := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-./=:@+,%#~", r)
	}
	if word != "" && !strings.ContainsRune("#~=", rune(word[0])) && strings.IndexFunc(word, special) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
