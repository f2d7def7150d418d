package mountpoint

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// A Mount is a line of the mount table.
type Mount struct {
	Dir    string
	Kind   string // the type, with subtype: "fuse.domarkx"
	Source string
	Device string // "major:minor"
}

// Mounts reads the mount table.
func Mounts() ([]Mount, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the mount table: %w", err)
	}
	return Parse(data), nil
}

// Parse parses /proc/PID/mountinfo (proc(5)). It skips malformed lines.
func Parse(data []byte) []Mount {
	var all []Mount
	for line := range bytes.Lines(data) {
		before, after, ok := strings.Cut(string(bytes.TrimRight(line, "\n")), " - ")
		fields, rest := strings.Split(before, " "), strings.Split(after, " ")
		if !ok || len(fields) < 6 || len(rest) < 2 {
			continue
		}
		all = append(all, Mount{Dir: unescape(fields[4]), Kind: rest[0], Source: unescape(rest[1]), Device: fields[2]})
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
