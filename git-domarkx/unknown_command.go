package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// neverSuggested are the commands that remove something: whoever misspells another command
// must not be led to them.
var neverSuggested = []string{"rm", "gc"}

// notACommand is the error for words of which the last is not a command of node.
func notACommand(node *kong.Node, typed string) error {
	spelled := typed
	if node.Parent != nil {
		spelled = verbOf(node) + " " + typed
	}
	message := fmt.Sprintf("%q is not a command", spelled)
	var similar []string
	for _, child := range node.Children {
		if !child.Hidden && !slices.Contains(neverSuggested, child.Name) && isSimilar(typed, child.Name) {
			similar = append(similar, fmt.Sprintf("%q", verbOf(child)))
		}
	}
	if len(similar) > 0 {
		message += "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	failure := &usageError{msg: message}
	if node.Parent != nil {
		failure.of(node)
	}
	return failure
}

// isSimilar reports whether somebody who typed one word may have meant a command: it is the
// command's beginning, has letters too few or too many, or one in three is another.
func isSimilar(typed, command string) bool {
	switch {
	case typed == "" || typed[0] != command[0]:
		return false
	case strings.HasPrefix(command, typed):
		return true
	case len(typed) < len(command):
		return hasLetters(command, typed) && 2*len(typed) >= len(command)
	case len(typed) > len(command):
		return hasLetters(typed, command) && len(typed) <= len(command)+2
	}
	differing := 0
	for i := range len(typed) {
		if typed[i] != command[i] {
			differing++
		}
	}
	return 3*differing <= len(typed)
}

// hasLetters reports whether a word has the letters of another in their order, with others
// between them.
func hasLetters(word, letters string) bool {
	for _, letter := range []byte(letters) {
		i := strings.IndexByte(word, letter)
		if i < 0 {
			return false
		}
		word = word[i+1:]
	}
	return true
}
