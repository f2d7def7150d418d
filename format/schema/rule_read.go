package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx"
)

// A ruleReader makes rules of a schema. known tells when it met something that rules
// cannot say.
type ruleReader struct {
	root  domarkx.Value
	defs  map[string]*rule
	known bool
}

// readRule returns the rule that a schema says; nil when rules cannot say it.
func readRule(text string) *rule {
	root, err := domarkx.ParseValue([]byte(text))
	if err != nil {
		return nil
	}
	r := ruleReader{root: root, defs: map[string]*rule{}, known: true}
	top := r.rule(root)
	if !r.known {
		return nil
	}
	return top
}

func (r *ruleReader) rule(v domarkx.Value) *rule {
	s := &rule{}
	if v.Kind() != domarkx.Object {
		r.known = false
	}
	for _, m := range v.Members() {
		r.keyword(s, m.Name, m.Value)
	}
	r.known = r.known && len(s.members) <= 64 // as checkMembers has bits
	return s
}

func (r *ruleReader) keyword(s *rule, name string, v domarkx.Value) {
	switch name {
	case "$schema", "$id", "title", "description", "$defs":
	case "type":
		names := []string{v.Text()}
		if v.Kind() == domarkx.Array {
			names = r.names(v)
		}
		for _, name := range names {
			s.kinds |= kindBit(name)
			r.known = r.known && kindBit(name) != 0
		}
		r.known = r.known && s.kinds != 0
	case "required":
		for _, name := range r.names(v) {
			s.member(name).required = true
		}
	case "properties":
		for _, m := range v.Members() {
			s.member(m.Name).value = r.rule(m.Value)
		}
		r.known = r.known && v.Kind() == domarkx.Object
	case "additionalProperties":
		s.closed = v.Kind() == domarkx.Bool && !v.IsTrue()
		r.known = r.known && s.closed
	case "items":
		s.items = r.rule(v)
	case "const":
		s.values = []domarkx.Value{v}
	case "enum":
		s.values = v.Items()
		r.known = r.known && len(s.values) > 0
	case "minLength", "minimum":
		n, err := strconv.ParseInt(v.Text(), 10, 32)
		r.known = r.known && err == nil
		if name == "minLength" {
			s.length = int(n)
		} else {
			s.minimum, s.bounded = n, true
		}
	case "format":
		s.time = times[v.Text()]
		r.known = r.known && s.time != nil
	case "pattern", "minItems", "not":
		s.more = true
	case "allOf":
		s.all = append(s.all, r.rules(v)...)
	case "oneOf":
		s.one = r.rules(v)
	case "if":
		s.test = r.rule(v)
	case "then":
		s.then = r.rule(v)
	case "else":
		s.elseRule = r.rule(v)
	case "$ref":
		s.all = append(s.all, r.definition(v.Text()))
	default:
		r.known = false
	}
}

func (r *ruleReader) rules(v domarkx.Value) []*rule {
	var all []*rule
	for _, item := range v.Items() {
		all = append(all, r.rule(item))
	}
	r.known = r.known && len(all) > 0
	return all
}

func (r *ruleReader) names(v domarkx.Value) []string {
	var names []string
	for _, item := range v.Items() {
		r.known = r.known && item.Kind() == domarkx.String
		names = append(names, item.Text())
	}
	r.known = r.known && v.Kind() == domarkx.Array
	return names
}

// definition returns what a reference means.
func (r *ruleReader) definition(reference string) *rule {
	if s, ok := r.defs[reference]; ok {
		return s
	}
	s := &rule{}
	r.defs[reference] = s // it may refer to itself
	name, local := strings.CutPrefix(reference, "#/$defs/")
	all, _ := r.root.Get("$defs")
	v, ok := all.Get(name)
	if r.known = r.known && local && ok; r.known {
		*s = *r.rule(v)
	}
	return s
}

// member returns the rule for the member of that name.
func (s *rule) member(name string) *memberRule {
	i := slices.IndexFunc(s.members, func(m memberRule) bool { return m.name == name })
	if i < 0 {
		i = len(s.members)
		s.members = append(s.members, memberRule{name: name})
	}
	return &s.members[i]
}
