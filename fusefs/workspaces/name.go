package workspaces

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// AllVersions is the directory that has every version by its id, also versions that are
// in no workspace's history. No workspace can have this name.
const AllVersions = ".versions"

const latest = "latest"

// Name returns the name of a version's directory.
func Name(v domarkx.Version) string { return fmt.Sprintf("%04d-%s", v.Number, v.ID) }

// ParseName parses a name that [Name] returned.
func ParseName(name string) (number int, id string, ok bool) {
	digits, id, _ := strings.Cut(name, "-")
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || fmt.Sprintf("%04d", n) != digits || id == "" {
		return 0, "", false
	}
	return int(n), id, true
}

// Components returns the names in a directory, sorted: the next components of all paths below it.
func Components(directory string, paths []string) []string {
	var found []string
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(p, Below(directory)); ok {
			component, _, _ := strings.Cut(rest, "/")
			found = append(found, component)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// Below returns what the paths below a directory begin with; "" is the top.
func Below(directory string) string {
	if directory == "" {
		return ""
	}
	return directory + "/"
}
