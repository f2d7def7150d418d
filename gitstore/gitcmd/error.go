package gitcmd

import (
	"fmt"
	"strings"
)

// An Error is a git command that ended with another exit code than 0, or that
// could not be run.
type Error struct {
	Args   []string // the arguments, without "git" and without leading options
	Code   int      // the exit code; -1 when git did not start or died of a signal
	Stderr string   // the end of what git wrote there, without progress; may be empty
	Err    error    // why git could not be run or was stopped; nil when it ended by itself
}

// Error is git's own words when it had any.
func (e *Error) Error() string {
	name := "git"
	if command := e.command(); command != "" {
		name += " " + command
	}
	text := strings.TrimSpace(e.Stderr)
	for _, word := range []string{"fatal: ", "error: "} {
		text = strings.TrimPrefix(text, word)
	}
	switch {
	case text != "" && e.Err != nil:
		return fmt.Sprintf("%s: %v: %s", name, e.Err, text)
	case text != "":
		return name + ": " + text
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	return fmt.Sprintf("%s: exit code %d", name, e.Code)
}

// Unwrap gives the reason why git could not be run.
func (e *Error) Unwrap() error { return e.Err }

// command is the name of the git command: the first argument that is neither an
// option nor the value of -c.
func (e *Error) command() string {
	for i := 0; i < len(e.Args); i++ {
		switch {
		case e.Args[i] == "-c":
			i++
		case !strings.HasPrefix(e.Args[i], "-"):
			return e.Args[i]
		}
	}
	return ""
}
