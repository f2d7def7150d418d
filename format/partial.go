package format

import "unicode/utf8"

// Partial returns how many bytes at the end of a part of a text are the beginning of a character, which the next part goes on with.
func Partial(part []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(part); n++ {
		if end := part[len(part)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return n
			}
			break
		}
	}
	return 0
}
