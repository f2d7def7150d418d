package format

import "strings"

// FileName returns text as one component of a path on all systems.
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

// maxFileName limits the name of a file, without its extension, in bytes.
const maxFileName = 200
