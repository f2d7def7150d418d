package plugins

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Prefixes of directories that are not instances of a name. directoryName returns no name with
// one of them.
const (
	temporaryPrefix = ".tmp-"
	gonePrefix      = ".gone-"
)

// directoryName encodes a workspace's name as a directory name for any file system: bytes other
// than ASCII letters, digits, '_' and '-' become %XX, and long names are cut and made unique
// by their SHA-256.
func directoryName(name string) string {
	const longest, kept = 200, 120
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return b.String()[:kept] + "~" + hex.EncodeToString(sum[:])
}

func random() string { return strings.ToLower(rand.Text()[:16]) }
