package gitcmd

import (
	"fmt"
	"strings"
)

// An Error reports a git command that ended with an exit code other than 0, or that could not
// be run.
type Error struct {
	Args   []string // without "git" and leading options
	Code   int      // -1 if git was not started or was killed by a signal
	Stderr string   // the end of git's stderr without progress; may be empty
	Err    error    // why git could not be run or was stopped; nil if it exited
}

// Error returns the message of git if there is one.
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

// Unwrap returns why git could not be run.
func (e *Error) Unwrap() error { return e.Err }

// command returns the name of the git command: the first argument that is neither an option nor
// the value of -c.
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
