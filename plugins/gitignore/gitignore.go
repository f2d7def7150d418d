// Package gitignore decides which files Git ignores, from the patterns of gitignore(5). It matches
// names as Git does, byte by byte.
//
// To ask Git would walk the work tree once more. The tests compare random patterns with git
// check-ignore.
package gitignore

import (
	"bytes"
	"strings"
)

// FileName is the name of the files with patterns in a work tree.
const FileName = ".gitignore"

// A pattern is one line of a file with patterns.
type pattern struct {
	text        string
	literal     int // length of the beginning without wildcards
	negative    bool
	directories bool // matches only directories
	name        bool // matches the name at any depth
	suffix      bool // "*" and then no wildcard
}

// Rules are the patterns of one file.
type Rules struct {
	base     string // directory of the file, "" or ending with "/"
	patterns []pattern
}

// Parse returns the patterns of a file in a directory, given with slashes from the top of the work tree
// ("" for the top, and for files outside of the work tree).
func Parse(directory string, data []byte) *Rules {
	r := &Rules{}
	if directory != "" {
		r.base = directory + "/"
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if nul := bytes.IndexByte(line, 0); nul >= 0 {
			line = line[:nul]
		}
		if len(line) > 0 && line[0] != '#' {
			if p, ok := parse(trimSpaces(string(line))); ok {
				r.patterns = append(r.patterns, p)
			}
		}
	}
	return r
}

// Patterns returns the rules of patterns for the top, one each: spaces at their ends count, and "#" begins no comment.
func Patterns(texts []string) *Rules {
	r := &Rules{}
	for _, text := range texts {
		if p, ok := parse(text); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	return r
}

// trimSpaces removes spaces at the end that no backslash precedes.
func trimSpaces(line string) string {
	end := -1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			if end < 0 {
				end = i
			}
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = -1
	}
	if end >= 0 {
		return line[:end]
	}
	return line
}

func parse(text string) (pattern, bool) {
	var p pattern
	text, p.negative = strings.CutPrefix(text, "!")
	text, p.directories = strings.CutSuffix(text, "/")
	p.text, p.name = text, !strings.Contains(text, "/")
	p.literal = literalLength(text)
	p.suffix = strings.HasPrefix(text, "*") && literalLength(text[1:]) == len(text)-1
	return p, text != "" || p.directories
}

func literalLength(text string) int {
	if i := strings.IndexAny(text, `*?[\`); i >= 0 {
		return i
	}
	return len(text)
}

// Match reports whether a pattern matches a path, and whether the last one that does excludes it. It does not
// look at the directories above.
func (r *Rules) Match(path string, directory bool) (matched, excluded bool) {
	if r == nil || !strings.HasPrefix(path, r.base) {
		return false, false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := &r.patterns[i]
		if p.directories && !directory {
			continue
		}
		if p.name && p.matchName(name) || !p.name && p.matchPath(path[len(r.base):]) {
			return true, !p.negative
		}
	}
	return false, false
}

func (p *pattern) matchName(name string) bool {
	switch {
	case p.literal == len(p.text):
		return p.text == name
	case p.suffix:
		return strings.HasSuffix(name, p.text[1:])
	}
	return wildmatch(p.text, name, false)
}

func (p *pattern) matchPath(path string) bool {
	text, literal := p.text, p.literal
	if strings.HasPrefix(text, "/") {
		text, literal = text[1:], literal-1
	}
	if !strings.HasPrefix(path, text[:literal]) {
		return false
	}
	text, path = text[literal:], path[literal:]
	if text == "" {
		return path == ""
	}
	return wildmatch(text, path, true)
}

// A Stack is the rules that apply in a directory, the most specific first.
type Stack struct {
	rules *Rules
	above *Stack
}

// With returns the stack with rules that count before the others.
func (s *Stack) With(r *Rules) *Stack {
	if r == nil || len(r.patterns) == 0 {
		return s
	}
	return &Stack{r, s}
}

// Excludes reports whether the rules exclude a file, given that they exclude none of its directories.
func (s *Stack) Excludes(path string, directory bool) bool {
	for ; s != nil; s = s.above {
		if matched, excluded := s.rules.Match(path, directory); matched {
			return excluded
		}
	}
	return false
}
