package database

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// longest is the length limit of a file name in bytes; it leaves room for a suffix.
const longest = 200

// FileName encodes the name of a table as a file name. Letters, digits, "_", "-" and inner "."
// stay, other bytes become %XX, and a name that gets too long ends in "%" and a digest. Different
// names have different encodings.
func FileName(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		plain := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' ||
			c == '.' && i > 0 && i < len(name)-1
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() == 0 {
		return "%"
	}
	if b.Len() <= longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(name))
	return b.String()[:longest/2] + "%" + hex.EncodeToString(sum[:])
}
