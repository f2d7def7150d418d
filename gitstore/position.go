package gitstore

import "fmt"

// The fan-out of a conversation: a leaf folder holds leafWidth messages, the two
// levels above it nodeWidth folders each, and the top any number.
const (
	leafWidth = 16
	nodeWidth = 32
)

// spans holds how many messages a folder of each level covers, from the top: one
// entry of conversation/, of tttt/, of mm/, and one message.
var spans = [4]int{leafWidth * nodeWidth * nodeWidth, leafWidth * nodeWidth, leafWidth, 1}

// leafOf returns the number of the leaf that holds message k.
func leafOf(k int) int { return k / leafWidth }

// leafNames returns the names of the three folders that lead from conversation/
// to a leaf.
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

// leafPath returns the path of a leaf below the root of the snapshot, for errors.
func leafPath(leaf int) string {
	n := leafNames(leaf)
	return "conversation/" + n[0] + "/" + n[1] + "/" + n[2]
}
