package search

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A set is a set of numbers of messages. The nil set contains all.
type set []uint64

func (s set) has(id int64) bool {
	return s == nil || id>>6 < int64(len(s)) && s[id>>6]&(1<<(id&63)) != 0
}

func (s set) add(id int64) set {
	for id>>6 >= int64(len(s)) {
		s = append(s, 0)
	}
	s[id>>6] |= 1 << (id & 63)
	return s
}

func (s set) and(t set) set {
	if s == nil {
		return t
	}
	both := make(set, min(len(s), len(t)))
	for i := range both {
		both[i] = s[i] & t[i]
	}
	return both
}

// allowed returns the messages with the role, model, tool and path that a query asks for.
func (x *Index) allowed(q Query) (set, error) {
	var all set
	if q.Role != "" {
		all = set{}.with(x.db, "SELECT id FROM message WHERE role = ?", roleNumber(q.Role))
	}
	for kind, pattern := range map[int]string{modelFacet: q.Model, toolFacet: q.Tool, pathFacet: q.Path} {
		if pattern == "" {
			continue
		}
		matches, err := matcher(pattern, kind == pathFacet)
		if err != nil {
			return nil, err
		}
		all = all.and(x.facets(kind, matches))
	}
	return all, nil
}

// facets returns the messages with a facet whose name matches.
func (x *Index) facets(kind int, matches func(string) bool) set {
	sql := "SELECT message FROM facet_message WHERE facet = ?"
	if kind == modelFacet {
		sql = "SELECT id FROM message WHERE model = ?"
	}
	some := set{}
	for s := range x.db.rows("SELECT id, name FROM facet WHERE kind = ?", kind) {
		if matches(s.Column(1).(string)) {
			some = some.with(x.db, sql, s.Int(0))
		}
	}
	return some
}

// with returns the set with the numbers in the first column of a statement's result.
func (s set) with(d *database, sql string, arg int64) set {
	for row := range d.rows(sql, arg) {
		s = s.add(row.Int(0))
	}
	return s
}

// matcher returns a function that reports whether a name matches a glob. In a path, "*" and "?" do not match "/", and
// "**" does. A path also matches if its end does, after a "/": main.go and src/*.go match /home/me/src/main.go. The
// pattern itself matches too: there are paths such as app/[id]/page.tsx and models such as opus[1m].
func matcher(pattern string, isPath bool) (func(string) bool, error) {
	any, one := ".*", "."
	if isPath {
		any, one = "[^/]*", "[^/]"
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString(any)
		case c == '?':
			b.WriteString(one)
		case c == '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end <= 0 {
				return nil, fmt.Errorf("pattern %q: %w: expected a glob with * ? and [...]", pattern, domarkx.ErrInvalid)
			}
			in := pattern[i+1 : i+1+end]
			if in[0] == '!' {
				in = "^" + in[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(in, `\`, `\\`) + "]")
			i += end + 1
		default:
			n := i + 1
			for n < len(pattern) && pattern[n] >= 0x80 {
				n++
			}
			b.WriteString(regexp.QuoteMeta(pattern[i:n]))
			i = n - 1
		}
	}
	start := "^"
	if isPath && !strings.HasPrefix(pattern, "/") {
		start = "(?:^|/)"
	}
	re, err := regexp.Compile("(?s)" + start + "(?:" + b.String() + ")$")
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w: expected a glob with * ? and [...]", pattern, domarkx.ErrInvalid)
	}
	return func(name string) bool {
		return name == pattern || isPath && strings.HasSuffix(name, "/"+pattern) || re.MatchString(name)
	}, nil
}
