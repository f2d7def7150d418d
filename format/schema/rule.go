package schema

import (
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx"
)

// A rule is what a JSON Schema says of one value, as far as most documents need it
// to be known valid. It reads the values as they are; the validator wants a copy of
// them in maps, and takes ten times as long.
type rule struct {
	kinds    uint8 // of which the value must be one, see kindBit; 0 for any
	members  []memberRule
	closed   bool // an object has no other members
	items    *rule
	values   []domarkx.Value // of which the value must be one; nil for any
	length   int             // the least, in characters
	minimum  int64           // the least number, when bounded
	bounded  bool
	time     func(string) (time.Time, bool)
	more     bool // the schema says more, for the validator to tell
	all      []*rule
	one      []*rule
	test     *rule // nil for none; then and otherwise may be nil
	then     *rule
	elseRule *rule
}

type memberRule struct {
	name     string
	required bool
	value    *rule // nil for any
}

// kindBit returns the bit for a type of JSON Schema; 0 when there is none of that name.
func kindBit(name string) uint8 {
	if name == "integer" {
		return integerBit
	}
	for kind := domarkx.Null; kind <= domarkx.Object; kind++ {
		if kind.String() == name {
			return 1 << kind
		}
	}
	return 0
}

const integerBit = 0x80 // there are six kinds

// A verdict says whether a value is as a rule wants it.
type verdict uint8

const (
	unsure verdict = iota // the validator has to tell
	holds
	fails
)

// and is what is known of two conditions together.
func (v verdict) and(w verdict) verdict {
	switch {
	case v == fails || w == fails:
		return fails
	case v == holds && w == holds:
		return holds
	}
	return unsure
}

// maxRules bounds how deep rules lead to others.
const maxRules = 4 * domarkx.MaxDepth

// check says of a value, which lies so deep, whether it is as the rule wants it.
func (s *rule) check(v domarkx.Value, depth int) verdict {
	if depth > maxRules {
		return unsure
	}
	known := s.checkKind(v).and(s.checkValue(v))
	if s.more {
		known = known.and(unsure)
	}
	switch v.Kind() {
	case domarkx.String:
		if utf8.RuneCountInString(v.Text()) < s.length {
			return fails
		}
		if s.time != nil {
			if _, ok := s.time(v.Text()); !ok {
				return fails
			}
		}
	case domarkx.Number:
		if s.bounded {
			n, err := strconv.ParseInt(v.Text(), 10, 64)
			if err != nil {
				known = known.and(unsure)
			} else if n < s.minimum {
				return fails
			}
		}
	case domarkx.Array:
		if s.items != nil {
			for _, item := range v.Items() {
				known = known.and(s.items.check(item, depth+1))
			}
		}
	case domarkx.Object:
		known = known.and(s.checkMembers(v, depth))
	}
	for _, rule := range s.all {
		known = known.and(rule.check(v, depth+1))
	}
	if s.one != nil {
		known = known.and(checkOne(s.one, v, depth))
	}
	if s.test != nil {
		known = known.and(s.checkIf(v, depth))
	}
	return known
}

func (s *rule) checkKind(v domarkx.Value) verdict {
	switch {
	case s.kinds == 0 || s.kinds&(1<<v.Kind()) != 0:
		return holds
	case s.kinds&integerBit == 0 || v.Kind() != domarkx.Number:
		return fails
	}
	if _, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
		return holds
	}
	return unsure // 1.0 and 1e3 are integers
}

func (s *rule) checkValue(v domarkx.Value) verdict {
	if s.values == nil {
		return holds
	}
	known := fails
	for _, value := range s.values {
		switch {
		case value.Kind() != v.Kind():
		case value.Text() == v.Text() && v.Kind() < domarkx.Array:
			return holds
		case v.Kind() != domarkx.String && v.Kind() != domarkx.Bool:
			known = unsure // 1.0 is 1
		}
	}
	return known
}

func (s *rule) checkMembers(v domarkx.Value, depth int) verdict {
	known := holds
	var seen uint64
	next := 0 // most documents have their members in the order of the schema
	for _, m := range v.Members() {
		i := s.find(m.Name, next)
		next = i + 1
		switch {
		case i < 0:
			if s.closed {
				return fails
			}
			continue
		case seen&(1<<i) != 0:
			return unsure // the last of several counts
		}
		seen |= 1 << i
		if value := s.members[i].value; value != nil {
			known = known.and(value.check(m.Value, depth+1))
		} else if s.closed {
			return unsure
		}
	}
	for i, r := range s.members {
		if r.required && seen&(1<<i) == 0 {
			return fails
		}
	}
	return known
}

// find returns which of the members has that name, looking from the first on and then at
// those before it; -1 for none.
func (s *rule) find(name string, first int) int {
	for i := first; i < len(s.members); i++ {
		if s.members[i].name == name {
			return i
		}
	}
	for i := range min(first, len(s.members)) {
		if s.members[i].name == name {
			return i
		}
	}
	return -1
}

// checkOne says whether a value is as exactly one of several rules wants it.
func checkOne(rules []*rule, v domarkx.Value, depth int) verdict {
	n := 0
	for _, rule := range rules {
		switch rule.check(v, depth+1) {
		case holds:
			n++
		case unsure:
			return unsure
		}
	}
	if n == 1 {
		return holds
	}
	return fails
}

func (s *rule) checkIf(v domarkx.Value, depth int) verdict {
	next := s.then
	switch s.test.check(v, depth+1) {
	case unsure:
		return unsure
	case fails:
		next = s.elseRule
	}
	if next == nil {
		return holds
	}
	return next.check(v, depth+1)
}
