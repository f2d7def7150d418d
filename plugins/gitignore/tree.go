package gitignore

import (
	"strings"
	"sync"
)

// A Tree has the rules of a work tree, also those in its directories, which it reads once. It is safe for concurrent use.
type Tree struct {
	base *Stack
	read func(directory string) []byte

	mu    sync.RWMutex
	rules map[string]directoryRules
}

// directoryRules are the rules for the files in a directory.
type directoryRules struct {
	stack   *Stack
	ignored bool // the directory is ignored, although Git tracks files in it
}

// NewTree returns the rules of a work tree: base, and what read returns of the file with patterns in each directory.
func NewTree(base *Stack, read func(directory string) []byte) *Tree {
	return &Tree{base: base, read: read, rules: map[string]directoryRules{}}
}

// Ignores reports whether Git ignores a path unless it tracks that.
func (t *Tree) Ignores(path string, directory bool) bool {
	rules := t.in(above(path))
	return rules.ignored || rules.stack.Excludes(path, directory)
}

// in returns the rules that apply to the files in a directory.
func (t *Tree) in(directory string) directoryRules {
	t.mu.RLock()
	rules, ok := t.rules[directory]
	t.mu.RUnlock()
	if ok {
		return rules
	}
	rules = directoryRules{stack: t.base}
	if directory != "" {
		rules = t.in(above(directory))
		rules.ignored = rules.ignored || rules.stack.Excludes(directory, true)
	}
	rules.stack = rules.stack.With(Parse(directory, t.read(directory)))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rules[directory] = rules
	return rules
}

// above returns the directory of a path, "" for the top.
func above(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }
