package gitignore

import "strings"

// maxSteps bounds the work for one pattern and path: patterns may be hostile. A path that takes more does
// not match.
const maxSteps = 1 << 20

// Results of a match.
const (
	match = iota
	noMatch
	abortAll        // no match, and none either for any shorter rest of the text
	abortToStarStar // no match, and none either until the rest starts behind another slash
)

// wildmatch matches a text with a pattern as wildmatch.c of Git does. With paths set, only "**" matches
// slashes.
func wildmatch(pattern, text string, paths bool) bool {
	m := matcher{paths: paths, left: maxSteps}
	return m.run(pattern, 0, text) == match
}

type matcher struct {
	paths bool
	left  int
}

func at(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func (m *matcher) run(pattern string, p int, text string) int {
	for ; p < len(pattern); p++ {
		if m.left--; m.left < 0 {
			return abortAll
		}
		c := pattern[p]
		if text == "" && c != '*' {
			return abortAll
		}
		switch c {
		case '*':
			return m.star(pattern, p, text)
		case '?':
			if m.paths && text[0] == '/' {
				return noMatch
			}
		case '[':
			next, result := m.class(pattern, p, text[0])
			if result != match {
				return result
			}
			p = next
		case '\\':
			p++
			c = at(pattern, p)
			fallthrough
		default:
			if text[0] != c {
				return noMatch
			}
		}
		text = text[1:]
	}
	if text != "" {
		return noMatch
	}
	return match
}

func (m *matcher) star(pattern string, p int, text string) int {
	before := p - 1
	p++
	slashes := !m.paths
	if at(pattern, p) == '*' {
		for at(pattern, p) == '*' {
			p++
		}
		begins := before < 0 || pattern[before] == '/'
		ends := p == len(pattern) || pattern[p] == '/' || pattern[p] == '\\' && at(pattern, p+1) == '/'
		if m.paths && begins && ends {
			if at(pattern, p) == '/' && m.run(pattern, p+1, text) == match {
				return match
			}
			slashes = true
		}
	}
	if p == len(pattern) {
		if !slashes && strings.Contains(text, "/") {
			return abortToStarStar
		}
		return match
	}
	if !slashes && pattern[p] == '/' { // one star and a slash match the next directory
		i := strings.IndexByte(text, '/')
		if i < 0 {
			return abortAll
		}
		return m.run(pattern, p+1, text[i+1:])
	}
	for text != "" {
		result := m.run(pattern, p, text)
		if result != noMatch {
			if !slashes || result != abortToStarStar {
				return result
			}
		} else if !slashes && text[0] == '/' {
			return abortToStarStar
		}
		text = text[1:]
	}
	return abortAll
}

// class matches the byte t with the bracket expression that begins at p. It returns the position of
// the closing bracket and the result.
func (m *matcher) class(pattern string, p int, t byte) (int, int) {
	p++
	negated := at(pattern, p) == '!' || at(pattern, p) == '^'
	if negated {
		p++
	}
	matched := false
	var last byte // the first byte of a range; 0 for none
	for first := true; first || at(pattern, p) != ']'; first = false {
		c := at(pattern, p)
		switch {
		case c == 0:
			return p, abortAll
		case c == '\\':
			p++
			if c = at(pattern, p); c == 0 {
				return p, abortAll
			}
			matched = matched || t == c
		case c == '-' && last != 0 && at(pattern, p+1) != 0 && at(pattern, p+1) != ']':
			p++
			if c = at(pattern, p); c == '\\' {
				p++
				if c = at(pattern, p); c == 0 {
					return p, abortAll
				}
			}
			matched = matched || last <= t && t <= c
			c = 0
		case c == '[' && at(pattern, p+1) == ':':
			name, ok, bad := className(pattern, p+2)
			if bad {
				return p, abortAll
			}
			if !ok {
				matched = matched || t == '['
				break
			}
			in, known := inClass(name, t)
			if !known {
				return p, abortAll
			}
			matched = matched || in
			p += len("[:") + len(name) + len(":")
			c = 0
		default:
			matched = matched || t == c
		}
		last = c
		p++
	}
	if matched == negated || m.paths && t == '/' {
		return p, noMatch
	}
	return p, match
}

// className returns the name of the POSIX class that begins at p, and ok if ":]" ends it. bad
// reports that no "]" follows.
func className(pattern string, p int) (name string, ok, bad bool) {
	end := strings.IndexByte(pattern[p:], ']')
	if end < 0 {
		return "", false, true
	}
	name, ok = strings.CutSuffix(pattern[p:p+end], ":")
	return name, ok, false
}

// inClass reports whether a byte is in a POSIX class, and whether the class exists.
func inClass(name string, c byte) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	printed := ' ' < c && c < 0x7f
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return printed, true
	case "lower":
		return lower, true
	case "print":
		return printed || c == ' ', true
	case "punct":
		return printed && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || c == '\t' || c == '\n' || c == '\r', true // as Git's isspace
	case "upper":
		return upper, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}
