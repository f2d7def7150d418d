package format

import "strings"

// FileName returns text as a file name: it replaces characters that some system forbids there, and
// limits the length.
func FileName(s string) string {
	const longest = 200 // without the extension
	if s = FilePart(s, longest); strings.Trim(s, ".") == "" {
		return "_" + s
	}
	return s
}

// FilePart returns text as a part of a file name, with at most that many bytes.
func FilePart(s string, longest int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
	for len(s) > longest {
		s = strings.ToValidUTF8(s[:longest], "")
	}
	return s
}
