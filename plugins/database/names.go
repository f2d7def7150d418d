package database

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// longest is how long the name of a file may be; a suffix has room beside it.
const longest = 200

// FileName is a name of a file for any name of a table: letters, digits, "_", "-"
// and "." (not at the beginning or end) stay, other bytes are %XX; what gets too
// long ends in "%" and a digest instead. Different names make different files.
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
