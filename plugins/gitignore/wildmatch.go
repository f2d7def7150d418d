package gitignore

import "strings"

// maxSteps bounds the work for one pattern and path: patterns may be hostile. A path that takes more does
// not match.
const maxSteps = 1 << 20

// wildmatch matches a text with a pattern as wildmatch.c of Git does. With paths set, only "**" matches
// slashes.
func wildmatch(pattern, text string, paths bool) bool {
	m := matcher{paths: paths, left: maxSteps}
	return m.match(pattern, true, text)
}

type matcher struct {
	paths bool
	left  int
}

// match matches a text with the rest of a pattern. begins reports whether nothing or a slash stands before the rest.
func (m *matcher) match(pattern string, begins bool, text string) bool {
	for pattern != "" {
		if m.left--; m.left < 0 {
			return false
		}
		if pattern[0] == '*' {
			return m.stars(pattern, begins, text)
		}
		if text == "" {
			return false
		}
		rest, ok := m.element(pattern, text[0])
		if !ok {
			return false
		}
		begins = pattern[len(pattern)-len(rest)-1] == '/'
		pattern, text = rest, text[1:]
	}
	return text == ""
}

// stars matches a text with the rest of a pattern that begins with stars.
func (m *matcher) stars(pattern string, begins bool, text string) bool {
	rest := strings.TrimLeft(pattern, "*")
	slashes, isDouble := !m.paths, len(pattern)-len(rest) > 1
	if ends := rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`); m.paths && isDouble && begins && ends {
		if strings.HasPrefix(rest, "/") && m.match(rest[1:], true, text) {
			return true
		}
		slashes = true
	}
	if rest == "" {
		return slashes || !strings.Contains(text, "/")
	}
	for ; text != ""; text = text[1:] {
		if m.match(rest, false, text) {
			return true
		}
		if text[0] == '/' && !slashes {
			return false
		}
	}
	return false
}

// element matches a byte with the first element of a pattern, and returns the rest of the pattern.
func (m *matcher) element(pattern string, c byte) (rest string, ok bool) {
	switch first := pattern[0]; first {
	case '?':
		return pattern[1:], !m.paths || c != '/'
	case '[':
		rest, ok = bracket(pattern[1:], c)
		return rest, ok && (!m.paths || c != '/')
	default:
		first, rest, ok = literal(pattern)
		return rest, ok && first == c
	}
}

// literal returns the byte for which a pattern begins, perhaps with a backslash before it, and the rest.
func literal(pattern string) (c byte, rest string, ok bool) {
	if pattern = strings.TrimPrefix(pattern, `\`); pattern == "" {
		return 0, "", false
	}
	return pattern[0], pattern[1:], true
}

// classes are the POSIX classes, as Git knows them: the first and the last byte of each range.
var classes = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "\t\t  ", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~",
	"lower": "az", "print": " ~", "punct": "!/:@[`{~", "space": "\t\n\r\r  ", "upper": "AZ", "xdigit": "09AFaf",
}

// bracket matches a byte with a bracket expression whose "[" was before the pattern, and returns what follows its "]".
func bracket(pattern string, t byte) (rest string, ok bool) {
	negated := strings.HasPrefix(pattern, "!") || strings.HasPrefix(pattern, "^")
	if negated {
		pattern = pattern[1:]
	}
	matched := false
	var last byte // what may begin a range; 0 for nothing
	for first := true; first || !strings.HasPrefix(pattern, "]"); first = false {
		if name, after, isClass := class(pattern); isClass {
			ranges, known := classes[name]
			if !known {
				return "", false
			}
			for ; ranges != ""; ranges = ranges[2:] {
				matched = matched || ranges[0] <= t && t <= ranges[1]
			}
			pattern, last = after, 0
			continue
		}
		isRange := last != 0 && len(pattern) > 1 && pattern[0] == '-' && pattern[1] != ']'
		if isRange {
			pattern = pattern[1:]
		}
		c, after, ok := literal(pattern)
		if !ok {
			return "", false
		}
		if isRange {
			matched, last = matched || last <= t && t <= c, 0
		} else {
			matched, last = matched || t == c, c
		}
		pattern = after
	}
	return pattern[1:], matched != negated
}

// class returns the name of the POSIX class with which a pattern begins, and what follows.
func class(pattern string) (name, rest string, ok bool) {
	if name, ok = strings.CutPrefix(pattern, "[:"); !ok {
		return "", "", false
	}
	name, rest, _ = strings.Cut(name, "]")
	name, ok = strings.CutSuffix(name, ":")
	return name, rest, ok
}
