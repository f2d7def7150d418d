package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

// neverSuggested are the commands that delete data. They are never suggested for a command with a typing error.
var neverSuggested = []string{"rm", "gc"}

// otherWords are words of Git, shells and other tools, with the command that does here what they do there.
var otherWords = map[string]string{
	"delete":   `"rm NAME"; "restore NAME" brings it back`,
	"find":     `"search WORDS"`,
	"grep":     `"search WORDS", or "search -e PATTERN"`,
	"init":     `nothing: in a Git repository, begin with "import FILE", "append --new -m TEXT NAME" or "agent install AGENT"`,
	"ls":       `"list"`,
	"resume":   `"agent resume NAME"`,
	"sessions": `"list"`,
	"undo":     `"rewind NAME#K" for the files of a message, "restore NAME" for a session that was removed`,
}

// notACommand returns the error for a word that is not a subcommand of node.
func notACommand(node *kong.Node, typed string) error {
	spelled := typed
	if node.Parent != nil {
		spelled = clidoc.VerbOf(node) + " " + typed
	}
	message := fmt.Sprintf("%q is not a command", spelled)
	if other := otherWords[typed]; other != "" && node.Parent == nil {
		return &usageError{msg: message + "; use " + other}
	}
	var similar []string
	for _, child := range node.Children {
		if !child.Hidden && !slices.Contains(neverSuggested, child.Name) && isSimilar(typed, child.Name) {
			similar = append(similar, fmt.Sprintf("%q", clidoc.VerbOf(child)))
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

// isSimilar reports whether typed may be a misspelling of command. They must start with
// the same letter, and typed must be a prefix, lack letters or have up to two extra ones,
// or differ in at most a third of its letters. Two swapped neighbours count as one letter.
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
	for i := 0; i < len(typed); i++ {
		if typed[i] == command[i] {
			continue
		}
		differing++
		if i+1 < len(typed) && typed[i] == command[i+1] && typed[i+1] == command[i] {
			i++
		}
	}
	return 3*differing <= len(typed)
}

// hasLetters reports whether word contains the given letters in this order, possibly with others between them.
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
