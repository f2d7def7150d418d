package pi

import (
	"fmt"
	"slices"
	"sort"

	"github.com/domarkx/domarkx"
)

// behind returns what follows a node but is not part of the tree; -1 stands for the beginning of
// the file.
func (l *lines) behind(node int32) []beside {
	from := sort.Search(len(l.beside), func(i int) bool { return l.beside[i].node >= node })
	to := from
	for to < len(l.beside) && l.beside[to].node == node {
		to++
	}
	return l.beside[from:to]
}

// link finds the parent of each node. One that a broken line may have been is taken to
// be the entry before it.
func (l *lines) link() error {
	byID := make(map[key]int32, len(l.nodes))
	for i, id := range l.ids {
		if _, ok := byID[id]; ok {
			l.add(&domarkx.SyntaxError{Line: int(l.nodes[i].number), Column: 1, Pointer: "/" + keyID,
				Msg: "is the id of an entry before, expected one of its own; what names it means the last"})
		}
		byID[id] = int32(i)
	}
	rest := l.behind(-1)
	broken := len(rest) > 0
	rest = l.beside[len(rest):]
	for i := range l.nodes {
		n := &l.nodes[i]
		above, ok := byID[l.parents[i]]
		switch {
		case l.parents[i] == key{}:
		case ok && int(above) != i:
			n.above = above
		case broken && i > 0:
			n.above = int32(i - 1)
			fallthrough
		default:
			if err := l.reportOrphan(int32(i)); err != nil {
				return err
			}
		}
		for len(rest) > 0 && rest[0].node == int32(i) {
			broken, rest = true, rest[1:]
		}
	}
	for i := range l.nodes {
		if above := l.nodes[i].above; above >= 0 {
			l.nodes[above].parent = true
		}
	}
	l.ids, l.parents = nil, nil
	return nil
}

// reportOrphan reports a node whose parent does not exist.
func (l *lines) reportOrphan(i int32) error {
	if len(l.damage) == maxReports {
		l.more++
		return nil
	}
	id, parent, err := l.names(i)
	if err != nil {
		return err
	}
	taken := "it is taken to be the first"
	if above := l.nodes[i].above; above >= 0 {
		before, _, err := l.names(above)
		if err != nil {
			return err
		}
		taken = fmt.Sprintf("it is taken to come after %q", before)
	}
	l.add(&domarkx.SyntaxError{Line: int(l.nodes[i].number), Column: 1, Pointer: "/" + keyParentID,
		Msg: fmt.Sprintf("the entry %q comes after %q, which does not exist; %s", id, parent, taken)})
	return nil
}

// trace returns the nodes from the first to one, and whether the way back from that
// does not end, which cuts it off.
func (l *lines) trace(from int32) ([]int32, bool) {
	var path []int32
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

// note notes that a conversation has the nodes of a path.
func (l *lines) note(path []int32) {
	for _, i := range path {
		n := &l.nodes[i]
		n.seen, n.shared = true, n.seen
	}
}

// forkBudget limits the cost of a hostile transcript's branches: their entries in total, or eight
// times the number of entries if that is more.
const forkBudget = 100_000

// maxForks is how many branches become sessions at most.
const maxForks = 1000

// ends returns the way to the last entry, which pi would open, and the other entries at
// which conversations end.
func (l *lines) ends() ([]int32, []int32, error) {
	if err := l.link(); err != nil {
		return nil, nil, err
	}
	last := int32(len(l.nodes) - 1)
	main, round := l.trace(last)
	if round {
		l.add(&domarkx.SyntaxError{Line: int(l.nodes[last].number), Column: 1, Msg: "the entries before the last one form a cycle; each is used once"})
		slices.Sort(main)
		main = slices.Compact(main)
	} else {
		l.note(main)
	}
	var forks []int32
	budget := max(forkBudget, 8*len(l.nodes))
	left := 0
	for i := range max(last, 0) {
		if l.nodes[i].parent {
			continue
		}
		if budget >= 0 {
			if path, round := l.trace(i); !round {
				if budget -= len(path); budget >= 0 && len(forks) < maxForks {
					forks = append(forks, i)
					l.note(path)
					continue
				}
			} else {
				budget -= len(path)
			}
		}
		left++
	}
	if left > 0 {
		l.add(&domarkx.SyntaxError{Msg: fmt.Sprintf("%d more branches do not become sessions; they are kept in the original", left)})
	}
	return main, forks, nil
}
