package fusefs

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// snapshotName returns the name of a snapshot's file.
func snapshotName(info domarkx.Info, form Form) string {
	return fmt.Sprintf("%04d-%s%s", info.Number, info.ID, form.extension())
}

// parseSnapshotName parses a name that snapshotName returned.
func parseSnapshotName(name string) (number int, id string, form Form, ok bool) {
	for _, form := range forms {
		if stem, ok := strings.CutSuffix(name, form.extension()); ok {
			number, id, ok := workspaces.ParseName(stem)
			return number, id, form, ok
		}
	}
	return 0, "", "", false
}
