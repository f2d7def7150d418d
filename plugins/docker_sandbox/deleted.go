package dockersandbox

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
)

// writeDeleted encodes paths, one per line. Paths with a quote, a backslash, a control character
// or invalid UTF-8 are quoted as Git does it with core.quotePath=false.
func writeDeleted(paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		if plain(path) {
			b.WriteString(path)
		} else {
			b.WriteByte('"')
			for i := 0; i < len(path); i++ {
				switch c := path[i]; {
				case c == '"' || c == '\\':
					b.WriteByte('\\')
					b.WriteByte(c)
				case c < ' ' || c >= 0x7f:
					fmt.Fprintf(&b, "\\%03o", c)
				default:
					b.WriteByte(c)
				}
			}
			b.WriteByte('"')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func plain(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' })
}

// readDeleted decodes a list of paths that writeDeleted encoded.
func readDeleted(text string) ([]string, error) {
	var paths []string
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		if strings.HasPrefix(line, `"`) {
			unquoted, err := strconv.Unquote(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not quoted correctly: %w", len(paths)+1, line, domarkx.ErrCorrupt)
			}
			line = unquoted
		}
		if !ended || !isPath(line) {
			return nil, fmt.Errorf("line %d: %q is not a valid path: %w", len(paths)+1, line, domarkx.ErrCorrupt)
		}
		paths = append(paths, line)
	}
	return paths, nil
}

func isPath(p string) bool {
	for component := range strings.SplitSeq(p, "/") {
		if component == "" || component == "." || component == ".." {
			return false
		}
	}
	return !strings.ContainsRune(p, 0)
}
