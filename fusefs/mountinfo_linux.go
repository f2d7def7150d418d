package fusefs

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// A mounted is a line of the mount table.
type mounted struct {
	dir    string
	kind   string // the type, with subtype: "fuse.domarkx"
	source string
	device string // "major:minor"
}

// mounts reads the mount table.
func mounts() ([]mounted, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mount table: %w", err)
	}
	return parseMountinfo(data), nil
}

// parseMountinfo parses /proc/PID/mountinfo (proc(5)). It skips malformed lines.
func parseMountinfo(data []byte) []mounted {
	var all []mounted
	for line := range bytes.Lines(data) {
		before, after, ok := strings.Cut(string(bytes.TrimRight(line, "\n")), " - ")
		fields, rest := strings.Split(before, " "), strings.Split(after, " ")
		if !ok || len(fields) < 6 || len(rest) < 2 {
			continue
		}
		all = append(all, mounted{dir: unescape(fields[4]), kind: rest[0], source: unescape(rest[1]), device: fields[2]})
	}
	return all
}

// unescape decodes the kernel's \ooo escapes of blanks and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1]) && s[i+1] < '4' && isOctal(s[i+2]) && isOctal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }
