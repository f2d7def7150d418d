package dirversion

import (
	"fmt"
	"path"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A pattern is a parsed exclude pattern.
type pattern struct {
	components   []string
	anyDirectory bool // matches names at any depth
	directories  bool // matches only directories
}

// parseExclude parses the patterns of c. It returns domarkx.ErrInvalid for a malformed one.
func parseExclude(c Config) ([]pattern, error) {
	patterns := make([]pattern, 0, len(c.Exclude))
	for _, text := range c.Exclude {
		if strings.HasPrefix(text, "!") { // it would have no effect, contrary to what gitignore users expect
			err := fmt.Errorf("exclude pattern %q: %w: nothing is taken back with \"!\"; a name that begins with it is \"\\%s\"", text, domarkx.ErrInvalid, text)
			if !c.Known {
				return nil, err
			}
			c.Warn(err.Error())
		}
		p := pattern{}
		rest, directories := strings.CutSuffix(text, "/")
		p.directories = directories
		p.anyDirectory = !strings.Contains(rest, "/")
		rest = strings.TrimPrefix(rest, "/")
		p.components = strings.Split(rest, "/")
		for i, c := range p.components {
			c = negate(c)
			p.components[i] = c
			if c == "" || c == "." || c == ".." {
				return nil, fmt.Errorf("exclude pattern %q: %w: expected names between slashes", text, domarkx.ErrInvalid)
			}
			if _, err := path.Match(c, ""); err != nil {
				return nil, fmt.Errorf("exclude pattern %q: %w: %w", text, domarkx.ErrInvalid, err)
			}
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// excluded reports whether a path is excluded, given that none of its parents is.
func (f *Directory) excluded(at string, directory bool) bool {
	if f.inside[at] {
		return true
	}
	if f.observe != nil && at != "" && (f.ignored(at, directory) || f.protected(at, directory)) {
		return true
	}
	if len(f.exclude) == 0 || at == "" {
		return false
	}
	components := strings.Split(at, "/")
	for _, p := range f.exclude {
		if p.directories && !directory {
			continue
		}
		if p.anyDirectory {
			if ok, _ := path.Match(p.components[0], components[len(components)-1]); ok {
				return true
			}
			continue
		}
		if matchPath(p.components, components) {
			return true
		}
	}
	return false
}

// matchPath matches components; "**" matches any number of them.
func matchPath(pattern, components []string) bool {
	// As with "*" in a name, only the last "**" ever needs to match one component more.
	pi, ci, star, mark := 0, 0, -1, 0
	for ci < len(components) {
		if pi < len(pattern) && pattern[pi] == "**" {
			star, mark = pi, ci
			pi++
			continue
		}
		if pi < len(pattern) {
			if ok, _ := path.Match(pattern[pi], components[ci]); ok {
				pi++
				ci++
				continue
			}
		}
		if star < 0 {
			return false
		}
		mark++
		pi, ci = star+1, mark
	}
	return pi == len(pattern) // "**" at the end matches at least one component
}

// negate replaces the "!" that negates a class in a pattern of Git by the "^" of [path.Match].
func negate(component string) string {
	b, class := []byte(component), false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case class:
			class = b[i] != ']'
		case b[i] == '[':
			if class = true; i+1 < len(b) && b[i+1] == '!' {
				i++
				b[i] = '^'
			}
		}
	}
	return string(b)
}
