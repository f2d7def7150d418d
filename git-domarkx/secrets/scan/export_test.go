package scan

import (
	"fmt"
	"io"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
)

// What the tests of the package see of it.
var (
	PlaceIn   = placeIn
	MessageOf = messageOf
	IsDigest  = isDigest
)

// ScanContent returns "rule line" of the secrets in a content.
func ScanContent(scanner *secrets.Scanner, name string, content io.Reader, size int64) ([]string, error) {
	hits, err := scanContent(scanner, name, content, size, false)
	var found []string
	for _, h := range hits {
		found = append(found, fmt.Sprint(h.Rule, " ", h.Line))
	}
	return found, err
}

// The size of the parts of a large content, and what two of them have in common.
const (
	PartSize = partSize
	Overlap  = overlap
)
