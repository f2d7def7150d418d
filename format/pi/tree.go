package pi

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/domarkx/domarkx"
)

// link finds the parent of each node. One that a broken line may have been is taken to
// be the entry before it.
func (l *lines) link() {
	byID := make(map[string]int, len(l.nodes))
	for i, n := range l.nodes {
		byID[n.id] = i
	}
	broken := len(l.lead) > 0
	for i := range l.nodes {
		n := &l.nodes[i]
		n.above = -1
		above, ok := byID[n.parent]
		switch {
		case !n.hasParent:
		case ok && above != i:
			n.above = above
		case broken && i > 0:
			n.above = i - 1
			fallthrough
		default:
			l.add(&domarkx.SyntaxError{Msg: fmt.Sprintf("the entry %q comes after %q, which is not there; %s", n.id, n.parent, taken(n.above, l.nodes))})
		}
		broken = broken || len(n.after) > 0
	}
	for i := range l.nodes {
		if above := l.nodes[i].above; above >= 0 {
			l.nodes[above].children++
		}
	}
}

func taken(above int, nodes []node) string {
	if above < 0 {
		return "it is taken to be the first"
	}
	return fmt.Sprintf("it is taken to come after %q", nodes[above].id)
}

// trace returns the nodes from the first to one, and whether the way back from that
// does not end, which cuts it off.
func (l *lines) trace(from int) ([]int, bool) {
	var path []int
	for i := from; i >= 0; i = l.nodes[i].above {
		if len(path) > len(l.nodes) {
			slices.Reverse(path[:len(l.nodes)])
			return path[:len(l.nodes)], true
		}
		path = append(path, i)
	}
	slices.Reverse(path)
	return path, false
}

// A branch is a way through the tree.
type branch struct {
	fork string // the entry that ends it; "" for the transcript's own
	path []int
}

// forkBudget bounds what the branches of a hostile transcript cost: so many entries
// in all, or eight times those there are.
const forkBudget = 100_000

// branchesOf returns the way to the last entry, which pi would open, and those to the
// other ends.
func (l *lines) branchesOf() []branch {
	l.link()
	last := len(l.nodes) - 1
	main, round := l.trace(last)
	if round {
		l.add(&domarkx.SyntaxError{Msg: "the entries before the last one go round in a circle, of which each is taken once"})
		main = slices.Compact(sorted(main))
	}
	all := []branch{{path: main}}
	budget := max(forkBudget, 8*len(l.nodes))
	names := map[string]int{}
	left := 0
	for i := range max(last, 0) {
		if l.nodes[i].children > 0 {
			continue
		}
		path, round := l.trace(i)
		if budget -= len(path); budget < 0 || round {
			left++
			continue
		}
		name := l.nodes[i].id
		if names[name]++; names[name] > 1 {
			name += "-" + strconv.Itoa(names[name])
		}
		all = append(all, branch{fork: name, path: path})
	}
	if left > 0 {
		l.add(&domarkx.SyntaxError{Msg: fmt.Sprintf("%d more branches do not become sessions; they are kept in the original", left)})
	}
	return all
}

func sorted(path []int) []int {
	slices.Sort(path)
	return path
}
