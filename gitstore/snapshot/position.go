package snapshot

import (
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
)

// leafPath returns the path of a leaf in a snapshot, for errors.
func leafPath(leaf int) string {
	return fanout.Path("conversation", fanout.Levels-1, leaf*fanout.LeafWidth)
}

func messageFile(i int, role domarkx.Role) string {
	return fanout.FileName(i) + "-" + string(role) + ".json"
}
func sourceFile(i int) string { return fanout.FileName(i) + ".md" }

// parseMessageFile parses the name of a message's file.
func parseMessageFile(name string) (i int, role domarkx.Role, ok bool) {
	middle, ok := strings.CutSuffix(name, ".json")
	if !ok || len(middle) < 4 || middle[2] != '-' {
		return 0, "", false
	}
	i, ok = fanout.ParseFileName(middle[:2])
	role, err := domarkx.ParseRole(middle[3:])
	return i, role, ok && err == nil && i < fanout.LeafWidth
}
