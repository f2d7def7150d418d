package agentchatter

import (
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// summary returns the specification's summary (section 6.1) of a conversation of n messages; first
// is the content of the first.
func summary(n int, first string) string {
	preview := domarkx.Preview(domarkx.Message{Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: first}}})
	return domarkx.Info{Messages: n, Preview: preview}.Summary()
}

// wide returns the code points of WTF-8, lone surrogates among them.
func wide(s string) []rune {
	runes := make([]rune, 0, len(s))
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 && len(s) >= 3 && s[0] == 0xED {
			r, size = 0xD000|rune(s[1]&0x3F)<<6|rune(s[2]&0x3F), 3
		}
		runes = append(runes, r)
		s = s[size:]
	}
	return runes
}
