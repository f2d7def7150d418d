package fusefs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// snapshotName returns the name of a snapshot's file.
func snapshotName(info domarkx.Info, form Form) string {
	return fmt.Sprintf("%04d-%s%s", info.Number, info.ID, form.extension())
}

// parseSnapshotName parses a name that snapshotName returned.
func parseSnapshotName(name string) (number int, id string, form Form, ok bool) {
	stem, isJSON := strings.CutSuffix(name, JSON.extension())
	if isJSON {
		form = JSON
	} else if stem, ok = strings.CutSuffix(name, Markdown.extension()); !ok {
		return 0, "", 0, false
	}
	digits, id, _ := strings.Cut(stem, "-")
	number, ok = parseNumber(digits)
	return number, id, form, ok && id != ""
}

// messageName returns the name of a message's directory.
func messageName(k int, role domarkx.Role) string { return fmt.Sprintf("%04d-%s", k, role) }

// parseMessageName parses a name that messageName returned.
func parseMessageName(name string) (k int, role domarkx.Role, ok bool) {
	digits, rest, _ := strings.Cut(name, "-")
	k, ok = parseNumber(digits)
	return k, domarkx.Role(rest), ok && rest != ""
}

// parseNumber parses a number of at least four digits without needless leading zeros.
func parseNumber(digits string) (int, bool) {
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil && fmt.Sprintf("%04d", n) == digits
}
