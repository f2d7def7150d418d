package version

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// The names in a folder of a version that are no names of files; no other name
// in it begins with sidecarName.
const (
	sidecarName  = ".domarkx"
	hiddenPrefix = ".domarkx-" // before the escaped name of a file that Git or hosts would refuse
	chunksPrefix = ".domarkx+" // before the escaped name of a file: its chunk tree
)

const (
	maxName  = 1024 // bytes of a file's name; escaped it stays below the 4,096 of git fsck
	MaxDepth = 1000 // folders within each other; Git itself stops at 2,048
)

// checkName reports, as [domarkx.ErrInvalid], what is no name of a file.
func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%w: %q is no name of a file", domarkx.ErrInvalid, name)
	case len(name) > maxName:
		return fmt.Errorf("%w: its name has %d bytes, expected at most %d", domarkx.ErrInvalid, len(name), maxName)
	}
	return nil
}

// QuotePath is a path as errors name it: of a very long one the beginning and the end.
func QuotePath(path string) string {
	const end = 200
	if len(path) <= 3*end {
		return strconv.Quote(path)
	}
	return strconv.Quote(path[:end]) + "…" + strconv.Quote(path[len(path)-end:])
}

// checkPath reports, as [domarkx.ErrInvalid], what cannot be the path of a file.
func checkPath(path string) error {
	depth := 0
	for name := range strings.SplitSeq(path, "/") {
		if err := checkName(name); err != nil {
			return err
		}
		if depth++; depth > MaxDepth+1 {
			return fmt.Errorf("%w: it is more than %d folders deep", domarkx.ErrInvalid, MaxDepth)
		}
	}
	return nil
}

// escapeName writes a name so that no program treats it specially, once something
// stands before it: every byte but A-Z a-z 0-9 . _ - becomes %XX.
func escapeName(name string) string {
	plain := true
	for i := range len(name) {
		plain = plain && isPlain(name[i])
	}
	if plain {
		return name
	}
	return string(appendEscaped(make([]byte, 0, 3*len(name)), name))
}

const upperHex = "0123456789ABCDEF"

func appendEscaped(b []byte, name string) []byte {
	for i := range len(name) {
		if c := name[i]; isPlain(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

func isPlain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-'
}

// unescapeName reads what escapeName wrote, and nothing else.
func unescapeName(escaped string) (string, error) {
	name, err := url.PathUnescape(escaped)
	if err == nil {
		err = checkName(name)
	}
	if err != nil || escapeName(name) != escaped {
		return "", fmt.Errorf("%w: name %q", domarkx.ErrCorrupt, escaped)
	}
	return name, nil
}

// The names, in lower case, that Git, hosts and checkouts treat specially, and
// the beginnings of the short names that Windows may give them: for entries of any
// type, and for symbolic links. An entry of Git's own of these names would be
// refused (.git), its content judged (.gitmodules), or change what `git archive` and
// `git checkout` make of the others (.gitattributes).
var (
	specialNames      = []string{".git", ".gitmodules", ".gitattributes"}
	specialShort      = []string{"git", "gitmod", "gitatt", "gi7eba", "gi7d29"}
	specialLinks      = []string{".gitignore", ".mailmap"}
	specialLinksShort = []string{"gitign", "gi250a", "mailma", "maba30"}
)

// isHidden reports whether a name cannot stand in a tree as it is. The rules take in
// all that git fsck looks for (is_ntfs_dotgit, is_hfs_dotgitmodules and their like) and
// are simpler.
func isHidden(name string, symlink bool) bool {
	special := false
	for i := range len(name) {
		c := name[i]
		// Only ignored code points of HFS+ begin with these bytes, or a part of the name.
		special = special || c == 0xe2 || c == 0xef || c == '\\' || c == '~' && i <= 6
	}
	if !special && name[0] != '.' {
		return false
	}
	if strings.HasPrefix(name, sidecarName) {
		return true
	}
	for part := range strings.SplitSeq(foldName(name), `\`) {
		if isSpecial(part, specialNames, specialShort) || symlink && isSpecial(part, specialLinks, specialLinksShort) {
			return true
		}
	}
	return false
}

// foldName drops the code points that HFS+ ignores and lowers ASCII letters.
func foldName(name string) string {
	b := make([]byte, 0, len(name))
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		case 'A' <= r && r <= 'Z':
			b = append(b, byte(r)+'a'-'A')
		default:
			b = append(b, name[:n]...)
		}
		name = name[n:]
	}
	return string(b)
}

func isSpecial(part string, names, short []string) bool {
	for _, name := range names {
		if rest, ok := strings.CutPrefix(part, name); ok && (rest == "" || !isWord(rest[0])) {
			return true
		}
	}
	before, after, ok := strings.Cut(part, "~")
	if !ok || after == "" || after[0] < '0' || after[0] > '9' {
		return false
	}
	for _, s := range short {
		if strings.HasPrefix(s, before) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// treeName returns the name under which a file stands in its folder's tree.
func treeName(name string, symlink bool) string {
	if isHidden(name, symlink) {
		return hiddenPrefix + escapeName(name)
	}
	return name
}
