package versions

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
)

// Loose is the folder of all versions by their id alone, for those that no
// workspace leads to any more. No workspace can be called so.
const Loose = ".versions"

const latest = "latest"

// Name returns the name of a version's folder.
func Name(v domarkx.Version) string { return fmt.Sprintf("%04d-%s", v.Number, v.ID) }

// ParseName returns what [Name] made the name of.
func ParseName(name string) (number int, id string, ok bool) {
	digits, id, _ := strings.Cut(name, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || fmt.Sprintf("%04d", n) != digits || id == "" {
		return 0, "", false
	}
	return int(n), id, true
}

func joined(p, name string) string {
	if p == "" {
		return name
	}
	return p + "/" + name
}
