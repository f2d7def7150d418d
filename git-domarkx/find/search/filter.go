package search

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
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
		some, err := x.db.set("SELECT id FROM message WHERE role = ?", roleNumber(q.Role))
		if err != nil {
			return nil, err
		}
		all = all.and(some)
	}
	for kind, pattern := range map[int]string{modelFacet: q.Model, toolFacet: q.Tool, pathFacet: q.Path} {
		if pattern == "" {
			continue
		}
		matches, err := matcher(pattern, kind == pathFacet)
		if err != nil {
			return nil, err
		}
		some, err := x.facets(kind, matches)
		if err != nil {
			return nil, err
		}
		all = all.and(some)
	}
	return all, nil
}

// facets returns the messages with a facet whose name matches.
func (x *Index) facets(kind int, matches func(string) bool) (set, error) {
	var ids []int64
	err := x.db.query("SELECT id, name FROM facet WHERE kind = ?", func(s *sqlite3.Stmt) error {
		if matches(s.Column(1).(string)) {
			ids = append(ids, s.Int(0))
		}
		return nil
	}, kind)
	some := set{}
	for _, id := range ids {
		sql := "SELECT message FROM facet_message WHERE facet = ?"
		if kind == modelFacet {
			sql = "SELECT id FROM message WHERE model = ?"
		}
		if err == nil {
			err = x.db.query(sql, func(s *sqlite3.Stmt) error { some = some.add(s.Int(0)); return nil }, id)
		}
	}
	return some, err
}

func (d *database) set(sql string, args ...any) (set, error) {
	some := set{}
	err := d.query(sql, func(s *sqlite3.Stmt) error { some = some.add(s.Int(0)); return nil }, args...)
	return some, err
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
