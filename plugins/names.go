package plugins

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// The beginnings of folders that are no instance by a name; folderName makes none
// like them.
const (
	temporaryPrefix = ".tmp-"
	gonePrefix      = ".gone-"
)

// folderName is a workspace's name as the name of a folder on any file system: what
// is no letter, digit, '_' or '-' of ASCII is %XX, and a long one is cut and told
// apart by its SHA-256.
func folderName(name string) string {
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
