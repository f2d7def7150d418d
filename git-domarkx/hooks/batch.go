package hooks

import (
	"slices"
	"strconv"
	"strings"
)

// The events after a call that succeeded, and after all calls of a response of the model, those that failed included.
const (
	postCall  = "PostToolUse"
	postBatch = "PostToolBatch"
)

// Of returns the agent with the hooks that suit its program, whose version is "" if it is not known. A hook that the
// program does not know is not installed: early versions of Claude Code ignore all settings in a file that names one.
func (a Agent) Of(version func() string) Agent {
	if a.batch == "" || !isAtLeast(version(), a.batch) {
		return a
	}
	a.events = slices.Clone(a.events)
	a.events[slices.Index(a.events, postCall)] = postBatch
	return a
}

// isAtLeast reports whether a version such as 2.1.330 is not earlier than another one.
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
		if m, _ := strconv.Atoi(want[i]); n != m { // the floors are our own
			return n > m
		}
	}
	return true
}
