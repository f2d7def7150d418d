package engine

import "strings"

// FoldName returns a name that two names have in common if some file system treats them as equal:
// it ignores case, the characters that HFS+ ignores, and what NTFS cuts off.
func FoldName(name string) string {
	folded := strings.Map(func(r rune) rune {
		if r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToLower(name))
	folded, _, _ = strings.Cut(folded, ":") // an NTFS stream
	return strings.TrimRight(folded, ". ")
}

// IsGitName reports whether some file system treats a name as ".git".
func IsGitName(name string) bool {
	folded := FoldName(name)
	return folded == ".git" || folded == "git~1"
}
