package transcript

// forkBudget is how many messages all branches may have together, which bounds the cost of hostile
// transcripts. maxForks is the maximum number of branches that become sessions.
const (
	forkBudget = 100_000
	maxForks   = 1000
)

// paths returns the messages of the transcript's own conversation, and the abandoned branches.
func (x *index) paths() (main []int32, forks []end) {
	main = x.way(x.last)
	x.mark(main)
	inner := map[int32]bool{} // messages that others follow
	for k := 0; k < len(x.messages) && len(x.ends) > 0; k++ {
		if !x.messages[k].dead {
			inner[x.messages[k].above] = true
		}
	}
	budget := max(forkBudget, 8*len(x.messages))
	left := 0
	for _, e := range x.ends {
		for e.message >= 0 && x.messages[e.message].dead {
			e.message = x.messages[e.message].above
		}
		if e.message < 0 || x.messages[e.message].seen || inner[e.message] || e.groups != nil && x.isBack(e.groups) {
			continue
		}
		if budget < 0 || len(forks) == maxForks {
			left++
			continue
		}
		path := x.way(e.message)
		budget -= len(path)
		x.mark(path)
		forks = append(forks, e)
	}
	if left > 0 {
		x.Report(0, "has more branches than become sessions; they are kept in the original")
	}
	return main, forks
}

// isBack reports whether the messages of all groups are there again.
func (x *index) isBack(groups map[uint64]int32) bool {
	for key, k := range groups {
		if _, ok := x.groups[key]; !ok && !x.messages[k].dead {
			return false
		}
	}
	return true
}
