package snapshot

import (
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"

	"github.com/domarkx/domarkx/gitstore/codec"
)

// The fan-out of a conversation: a leaf directory has leafWidth messages, the two levels above it have
// nodeWidth directories each, and the top has any number.
const (
	leafWidth = codec.LeafWidth
	nodeWidth = 32
)

// spans are the numbers of messages below one directory of each level, from the top: an entry of
// conversation/, of tttt/, of mm/, and a message.
var spans = [4]int{leafWidth * nodeWidth * nodeWidth, leafWidth * nodeWidth, leafWidth, 1}

// leafOf returns the number of the leaf with message k.
func leafOf(k int) int { return k / leafWidth }

// leafNames returns the names of the three directories on the path from conversation/ to a leaf.
func leafNames(leaf int) [3]string {
	first := leaf * leafWidth
	return [3]string{
		topName(first / spans[0]),
		fmt.Sprintf("%02d", first/spans[1]%nodeWidth),
		fmt.Sprintf("%02d", first/spans[2]%nodeWidth),
	}
}

// topName returns the name of entry i of conversation/.
func topName(i int) string { return fmt.Sprintf("%04d", i) }

// leafPath returns the path of a leaf in a snapshot, for errors.
func leafPath(leaf int) string {
	n := leafNames(leaf)
	return "conversation/" + n[0] + "/" + n[1] + "/" + n[2]
}

func directoryName(level, i int) string {
	if level == 0 {
		return topName(i)
	}
	return twoDigits(i)
}

func messageFile(i int, role domarkx.Role) string { return twoDigits(i) + "-" + string(role) + ".json" }
func sourceFile(i int) string                     { return twoDigits(i) + ".md" }

// parseMessageFile parses the name of a message's file.
func parseMessageFile(name string) (i int, role domarkx.Role, ok bool) {
	middle, ok := strings.CutSuffix(name, ".json")
	if !ok || len(middle) < 4 || middle[2] != '-' {
		return 0, "", false
	}
	i, ok = parseTwoDigits(middle[:2])
	role, err := domarkx.ParseRole(middle[3:])
	return i, role, ok && err == nil && i < leafWidth
}

func twoDigits(i int) string { return fmt.Sprintf("%02d", i) }

func parseTwoDigits(s string) (int, bool) {
	if len(s) != 2 || s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9' {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}
