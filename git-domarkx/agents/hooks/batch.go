package hooks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
)

// At returns the agent with the hooks that the installed version of its program knows. version
// returns "" if the version is unknown. It omits unknown hooks, because some versions ignore a whole
// settings file that names one. A file for all who have the repository never gets them, because others
// may have another version.
func (a Agent) At(version func() string) Agent {
	if a.Hooks.Batch != "" && isAtLeast(version(), a.Hooks.Since) {
		a.events = slices.Clone(a.events)
		a.events[slices.Index(a.events, a.call())] = a.Hooks.Batch
	}
	return a
}

// call returns the event after a call, whose place the one after a batch of calls takes.
func (a Agent) call() string {
	return a.Hooks.Events[slices.IndexFunc(a.Hooks.Events, func(event string) bool { return agents.KindOf(event) == agents.ToolsDone })]
}

// isAtLeast reports whether version, such as 2.1.330, equals floor or is later.
func isAtLeast(version, floor string) bool {
	have, want := strings.Split(version, "."), strings.Split(floor, ".")
	for i := range want {
		if i >= len(have) {
			return false
		}
		n, err := strconv.Atoi(have[i])
		if err != nil {
			return false
		}
		if m, _ := strconv.Atoi(want[i]); n != m { // floor is a constant, so it is valid
			return n > m
		}
	}
	return true
}
