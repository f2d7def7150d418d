package hooks

import (
	"slices"
	"strconv"
	"strings"
)

// Claude Code's events: after a call that succeeded, and after all calls of one model response,
// including those that failed.
const (
	postCall  = "PostToolUse"
	postBatch = "PostToolBatch"
)

// Of returns the agent with the hooks that the installed version of its program knows. version
// returns "" if the version is unknown. It omits unknown hooks, because early versions of Claude
// Code, before 2.1.101, ignore a whole settings file that names one. A file for all who have the
// repository never gets them, because others may have another version.
func (a Agent) Of(version func() string) Agent {
	if a.batch == "" || !isAtLeast(version(), a.batch) {
		return a
	}
	a.events = slices.Clone(a.events)
	a.events[slices.Index(a.events, postCall)] = postBatch
	return a
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
		if m, _ := strconv.Atoi(want[i]); n != m { // floor is a constant of this package, so it is valid
			return n > m
		}
	}
	return true
}
