package codec

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// ChunksSuffix is the suffix of the name of a chunk tree. The entry without the suffix is the pointer.
const ChunksSuffix = ".chunks"

// maxIncludePath is the maximum length of the path of an included file in bytes.
const maxIncludePath = 1024

// IncludeName returns the canonical name of the tree entry of an included file. All characters except
// letters, digits, '.', '_' and '-' are escaped, so that no path becomes a name with a special meaning
// for Git or a file system.
func IncludeName(p string) (string, error) {
	if p == "" || len(p) > maxIncludePath || strings.HasPrefix(p, "/") || path.Clean(p) != p ||
		p == ".." || strings.HasPrefix(p, "../") || p == "." || strings.ContainsRune(p, 0) {
		return "", fmt.Errorf("included file %q: %w, expected a clean relative path of at most %d bytes", p, domarkx.ErrInvalid, maxIncludePath)
	}
	suffix := -1
	if strings.HasSuffix(p, ChunksSuffix) {
		suffix = len(p) - len(ChunksSuffix)
	}
	return Escape(p, func(i int) bool {
		c := p[i]
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' ||
			c == '.' && i > 0 && i != suffix
	}), nil
}

// IncludePath returns the path of an included file from the name of its tree entry.
func IncludePath(name string) (string, error) {
	p, err := url.PathUnescape(name)
	if err == nil {
		var again string
		if again, err = IncludeName(p); err == nil && again != name {
			err = errLine
		}
	}
	if err != nil {
		return "", fmt.Errorf("includes/%s: %w: %v", name, domarkx.ErrCorrupt, err)
	}
	return p, nil
}
