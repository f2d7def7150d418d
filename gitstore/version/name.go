package version

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Names of tree entries that are not names of files. A file whose own name begins with sidecarName gets an escaped name with
// hiddenPrefix.
const (
	sidecarName  = ".domarkx"
	hiddenPrefix = ".domarkx-" // followed by the escaped name of a file that Git or hosts would reject
	chunksPrefix = ".domarkx+" // followed by the escaped name of the file to which a chunk tree belongs
)

const maxName = 1024 // bytes of a file's name; even escaped, it has less than the 4,096 bytes that git fsck accepts

// MaxDepth is the number of directories in which a file of a version can be nested. Git's own limit is 2,048
// (core.maxTreeDepth).
const MaxDepth = 1000

// checkName returns [domarkx.ErrInvalid] for an invalid file name.
func checkName(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00"):
		return fmt.Errorf("%w: %q is not a valid file name", domarkx.ErrInvalid, name)
	case len(name) > maxName:
		return fmt.Errorf("%w: its name has %d bytes, expected at most %d", domarkx.ErrInvalid, len(name), maxName)
	}
	return nil
}

// QuotePath quotes a path as [strconv.Quote] does, for an error message. Of a path of more than 600 bytes it returns the
// beginning and the end.
func QuotePath(path string) string {
	const end = 200
	if len(path) <= 3*end {
		return strconv.Quote(path)
	}
	return strconv.Quote(path[:end]) + "…" + strconv.Quote(path[len(path)-end:])
}

// checkPath returns [domarkx.ErrInvalid] for an invalid path: names separated by slashes, in at most MaxDepth directories.
func checkPath(path string) error {
	depth := 0
	for name := range strings.SplitSeq(path, "/") {
		if err := checkName(name); err != nil {
			return err
		}
		if depth++; depth > MaxDepth+1 {
			return fmt.Errorf("%w: it is nested in more than %d directories", domarkx.ErrInvalid, MaxDepth)
		}
	}
	return nil
}

// escapeName writes every byte of a name except A-Z a-z 0-9 . _ - as %XX. With hiddenPrefix or chunksPrefix before it, the
// result has no special meaning for Git or a host.
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

// unescapeName is the inverse of escapeName. It returns [domarkx.ErrCorrupt] for any other spelling.
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

// Names, in lower case, that have a special meaning for Git or hosts: they reject entries with some of these names (.git),
// check the content of others (.gitmodules), or treat other files differently in git archive and git checkout because of
// them (.gitattributes). The short names are prefixes of the 8.3 names that Windows may generate for the long ones. The
// names with Links have such a meaning only for symbolic links.
var (
	specialNames      = []string{".git", ".gitmodules", ".gitattributes"}
	specialShort      = []string{"git", "gitmod", "gitatt", "gi7eba", "gi7d29"}
	specialLinks      = []string{".gitignore", ".mailmap"}
	specialLinksShort = []string{"gitign", "gi250a", "mailma", "maba30"}
)

// isHidden reports whether a name must be escaped in a tree. Its rules are simpler than those of git fsck (is_ntfs_dotgit,
// is_hfs_dotgitmodules and others), and escape every name that git fsck rejects.
func isHidden(name string, symlink bool) bool {
	special := false
	for i := range len(name) {
		c := name[i]
		// In UTF-8, the code points that HFS+ ignores begin with 0xe2 or 0xef.
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

// foldName removes the code points that HFS+ ignores in names, and converts ASCII letters to lower case.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case odb.IgnoredByHFS(r):
			return -1
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
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

// treeName returns the name of the tree entry for a file name.
func treeName(name string, symlink bool) string {
	if isHidden(name, symlink) {
		return hiddenPrefix + escapeName(name)
	}
	return name
}

// FileName returns the file name for the name of a tree entry.
func FileName(entry string) string {
	if escaped, ok := strings.CutPrefix(entry, hiddenPrefix); ok {
		if name, err := unescapeName(escaped); err == nil {
			return name
		}
	}
	return entry
}

// ChunksEntry returns the name of the tree entry for the chunk tree of a file.
func ChunksEntry(file string) string { return chunksPrefix + escapeName(file) }
