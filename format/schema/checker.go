package schema

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A checker validates one document and collects its problems. The library validates
// too, but stops at the first problem and returns it as text without a position.
type checker struct {
	schema *Schema
	found  []problem
	depth  int
	work   *int // how often check was called for a foreign schema; nil for others
}

// A step is one element of a JSON pointer: the name of a member or the index of an item. A nil step is
// the document itself.
type step struct {
	parent *step
	name   string // of a member
	index  int    // of an item, when name is ""
	isItem bool
}

// maxDepth limits the nesting of references between schemas.
const maxDepth = 4 * jsonvalue.MaxDepth

// timeFormats are the formats that are asserted. JSON Schema has none for a time
// without a zone.
var timeFormats = map[string]func(string) (time.Time, bool){"date-time": format.ParseTime, localTime: format.ParseLocalTime}

const localTime = "local-date-time"

// valid reports whether v satisfies s, without collecting problems.
func (c *checker) valid(s *jsonschema.Schema, v jsonvalue.Value) bool {
	return len(c.problems(s, v, nil)) == 0
}

// problems returns the problems of v under s alone.
func (c *checker) problems(s *jsonschema.Schema, v jsonvalue.Value, at *step) []problem {
	alone := checker{schema: c.schema, depth: c.depth, work: c.work}
	alone.check(s, v, at)
	return alone.found
}

// check collects the problems of v under s.
func (c *checker) check(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	if c.work != nil {
		*c.work++
	}
	if c.exhausted() {
		return
	}
	if c.depth++; c.depth > maxDepth {
		c.report(at, v, "is described by a schema that refers to itself without end")
		return
	}
	defer func() { c.depth-- }()
	if isFalse(s) {
		c.report(at, v, "is %s, which cannot stand here with the rest", spelling(v))
		return
	}
	if !c.checkType(s, v, at) {
		return
	}
	c.checkValues(s, v, at)
	switch v.Kind() {
	case jsonvalue.String:
		c.checkString(s, v, at)
	case jsonvalue.Number:
		c.checkNumber(s, v, at)
	case jsonvalue.Array:
		c.checkArray(s, v, at)
	case jsonvalue.Object:
		c.checkObject(s, v, at)
	}
	if target := c.schema.definition(s.Ref); target != nil {
		c.check(target, v, at)
	}
	c.checkCombined(s, v, at)
}

// exhausted reports whether a foreign schema took too much work.
func (c *checker) exhausted() bool { return c.work != nil && *c.work > maxWork }

func (c *checker) checkType(s *jsonschema.Schema, v jsonvalue.Value, at *step) bool {
	wanted := s.Types
	if s.Type != "" {
		wanted = []string{s.Type}
	}
	if len(wanted) == 0 || slices.ContainsFunc(wanted, func(name string) bool { return hasType(v, name) }) {
		return true
	}
	wanted = slices.Sorted(slices.Values(wanted))
	kinds := make([]string, len(wanted))
	for i, name := range wanted {
		kinds[i] = syntax.Article(name)
	}
	var found any = syntax.Article(v.Kind().String())
	if v.Kind() == jsonvalue.Number {
		found = spelling(v)
	}
	c.report(at, v, "is %s, expected %s", found, strings.Join(kinds, " or "))
	return false
}

// hasType reports whether a value is of a type of JSON Schema. 1.0 is an integer.
func hasType(v jsonvalue.Value, name string) bool {
	if name != "integer" {
		return v.Kind().String() == name
	}
	if v.Kind() != jsonvalue.Number {
		return false
	}
	if _, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
		return true
	}
	return number(v).IsInt()
}

func (c *checker) checkValues(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	if s.Const != nil && !equal(*s.Const, v) {
		c.report(at, v, "is %s, expected %s", spelling(v), quoted(*s.Const))
	}
	if s.Enum == nil || slices.ContainsFunc(s.Enum, func(want any) bool { return equal(want, v) }) {
		return
	}
	listed := s.Enum
	if c.work != nil {
		listed = listed[:min(len(listed), maxListed)]
	}
	wanted := make([]string, len(listed))
	for i, want := range listed {
		wanted[i] = quoted(want)
	}
	c.report(at, v, "is %s, expected one of %s", spelling(v), strings.Join(wanted, ", "))
}

// maxListed is the number of values that a report lists for a foreign schema.
const maxListed = 20

// equal compares a value of a schema, as encoding/json decodes it, with a value.
func equal(want any, v jsonvalue.Value) bool {
	switch want := want.(type) {
	case nil:
		return v.Kind() == jsonvalue.Null
	case string:
		return v.Kind() == jsonvalue.String && v.Text() == want
	case bool:
		return v.Kind() == jsonvalue.Bool && v.IsTrue() == want
	case float64:
		return v.Kind() == jsonvalue.Number && number(v).Cmp(new(big.Rat).SetFloat64(want)) == 0
	case []any:
		return v.Kind() == jsonvalue.Array && slices.EqualFunc(want, v.Items(), equal)
	case map[string]any:
		for name, value := range want {
			if member, ok := v.Get(name); !ok || !equal(value, member) {
				return false
			}
		}
		return v.Kind() == jsonvalue.Object && len(plain(v).(map[string]any)) == len(want)
	}
	return false
}

func (c *checker) checkString(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	if s.MinLength != nil || s.MaxLength != nil {
		n := utf8.RuneCountInString(v.Text())
		if s.MinLength != nil && n == 0 && *s.MinLength > 0 {
			c.report(at, v, "is empty, expected some text")
		} else if s.MinLength != nil && n < *s.MinLength {
			c.report(at, v, "is %s, expected at least %d characters", spelling(v), *s.MinLength)
		}
		if s.MaxLength != nil && n > *s.MaxLength {
			c.report(at, v, "is %s, expected at most %d characters", spelling(v), *s.MaxLength)
		}
	}
	if s.Pattern != "" && !c.schema.patterns[s.Pattern].MatchString(v.Text()) {
		c.report(at, v, "is %s, expected what the pattern %s matches", spelling(v), s.Pattern)
	}
	if parse := timeFormats[s.Format]; parse != nil {
		if _, ok := parse(v.Text()); !ok {
			example := `a date and time with a zone, as in "2006-01-02T15:04:05.000Z"`
			if s.Format == localTime {
				example = `a date and time, as in "2006-01-02T15:04:05+00:00"`
			}
			c.report(at, v, "is %s, expected %s", spelling(v), example)
		}
	}
}

func (c *checker) checkNumber(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	for _, bound := range []struct {
		limit    *float64
		expected string
		holds    func(cmp int) bool
	}{
		{s.Minimum, "%s or more", func(cmp int) bool { return cmp >= 0 }},
		{s.ExclusiveMinimum, "more than %s", func(cmp int) bool { return cmp > 0 }},
		{s.Maximum, "%s or less", func(cmp int) bool { return cmp <= 0 }},
		{s.ExclusiveMaximum, "less than %s", func(cmp int) bool { return cmp < 0 }},
	} {
		if bound.limit == nil {
			continue
		}
		if limit := new(big.Rat).SetFloat64(*bound.limit); !bound.holds(number(v).Cmp(limit)) {
			c.report(at, v, "is %s, expected "+bound.expected, spelling(v), limit.RatString())
		}
	}
}

// number returns the value of a JSON number; see [bounded].
func number(v jsonvalue.Value) *big.Rat {
	n, ok := new(big.Rat).SetString(bounded(v.Text()))
	if !ok {
		return new(big.Rat)
	}
	return n
}

func (c *checker) checkArray(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	n := len(v.Items())
	if s.MinItems != nil && n < *s.MinItems {
		c.report(at, v, "has %d items, expected %d or more", n, *s.MinItems)
	}
	if s.MaxItems != nil && n > *s.MaxItems {
		c.report(at, v, "has %d items, expected %d at most", n, *s.MaxItems)
	}
	if s.Items == nil || s.PrefixItems != nil { // with those, the library checks the items
		return
	}
	for i, item := range v.Items() {
		c.check(s.Items, item, &step{parent: at, index: i, isItem: true})
	}
}

func (c *checker) checkObject(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	for _, name := range s.Required {
		if _, ok := v.Get(name); !ok {
			c.report(at, v, "required member %q is missing", name)
		}
	}
	if len(s.Properties) == 0 && s.AdditionalProperties == nil {
		return
	}
	for _, m := range jsonvalue.Distinct(v.Members()) {
		sub, known := s.Properties[m.Name]
		if !known {
			sub = s.AdditionalProperties
		}
		switch at := (&step{parent: at, name: m.Name}); {
		case sub == nil || len(s.PatternProperties) > 0 && !known:
		case !known && isFalse(sub):
			c.report(at, m.Value, "is a member that is not known here, expected none of that name")
		default:
			c.check(sub, m.Value, at)
		}
	}
}

func (c *checker) checkCombined(s *jsonschema.Schema, v jsonvalue.Value, at *step) {
	for _, sub := range s.AllOf {
		c.check(sub, v, at)
	}
	if s.AnyOf != nil {
		if nearest, n := c.nearest(s.AnyOf, v, at); n == 0 {
			c.found = append(c.found, nearest...)
		}
	}
	if s.OneOf != nil {
		switch nearest, n := c.nearest(s.OneOf, v, at); {
		case n == 0:
			c.found = append(c.found, nearest...)
		case n > 1:
			c.report(at, v, "has the members of two forms, expected those of one")
		}
	}
	if s.Not != nil && c.valid(s.Not, v) {
		c.report(at, v, "is %s, which its schema forbids by not", spelling(v))
	}
	if s.If != nil {
		next := s.Then
		if !c.valid(s.If, v) {
			next = s.Else
		}
		if next != nil {
			c.check(next, v, at)
		}
	}
}

// nearest returns how many of the alternatives v satisfies, and the problems of the one
// with the fewest.
func (c *checker) nearest(alternatives []*jsonschema.Schema, v jsonvalue.Value, at *step) (fewest []problem, valid int) {
	for i, sub := range alternatives {
		found := c.problems(sub, v, at)
		if len(found) == 0 {
			valid++
		}
		if i == 0 || len(found) < len(fewest) {
			fewest = found
		}
	}
	return fewest, valid
}
