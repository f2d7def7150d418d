package trust

import (
	"slices"
	"strings"
)

// foldName returns a name that two names have in common if some file system treats them as equal:
// it ignores case, the characters that HFS+ ignores, and what NTFS cuts off.
func foldName(name string) string {
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
	folded := foldName(name)
	return folded == ".git" || folded == "git~1"
}

// repositoryPart returns the name that some file system treats a name as, if it is one of those by
// which Git recognizes a directory as a repository; "" for others.
func repositoryPart(name string) string {
	folded := foldName(name)
	for _, part := range []string{"HEAD", "objects", "refs", "commondir"} {
		if folded == strings.ToLower(part) {
			return part
		}
	}
	return ""
}

// isRepository reports whether Git would recognize a directory with these parts. One with
// "commondir" keeps everything but HEAD elsewhere, including its configuration.
func isRepository(parts []string) bool {
	has := func(name string) bool { return slices.Contains(parts, name) }
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}
