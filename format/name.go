package format

import "strings"

// FileName returns text as a file name: it replaces characters that some system forbids there, and
// limits the length.
func FileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	for len(s) > maxFileName {
		s = strings.ToValidUTF8(s[:maxFileName], "")
	}
	if strings.Trim(s, ".") == "" {
		return "_" + s
	}
	return s
}

// maxFileName is the maximum length of a file name without its extension, in bytes.
const maxFileName = 200
