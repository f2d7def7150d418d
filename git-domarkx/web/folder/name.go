package folder

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// simple is a component of a name that means the same in URLs and on every file system.
var simple = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`) })

// device is a name that Windows keeps for devices, with any extension.
var device = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|~|$)`) })

// maxName is the maximum length of a file name, in bytes.
const maxName = 120

// Name returns a file name for a name that anybody may have chosen: of a session, an agent or a tag. It has only characters that
// need no escape in URLs, differs from the results for other names in more than case, and is at most 120 bytes long. A simple
// name keeps its form, with "~" for "/". Of another one, what can be kept is followed by "~~" and a digest.
func Name(name string) string {
	flat := strings.ReplaceAll(name, "/", "~")
	isSimple := len(name) <= maxName && !device().MatchString(flat)
	for part := range strings.SplitSeq(name, "/") {
		isSimple = isSimple && simple().MatchString(part)
	}
	if isSimple {
		return flat
	}
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == 60 {
			break
		}
	}
	return fmt.Sprintf("%s~~%.16x", strings.TrimSuffix(b.String(), "-"), sha256.Sum256([]byte(name)))
}
