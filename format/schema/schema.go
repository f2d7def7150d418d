// Package schema validates JSON documents against JSON Schemas (draft 2020-12) and
// reports each problem with its line, column and JSON pointer, what was found and
// what was expected.
package schema

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	root     *jsonschema.Schema
	patterns map[string]*regexp.Regexp
	library  *jsonschema.Resolved // validates keywords that [checker] does not know; nil when there are none
	foreign  bool                 // see [CompileForeign]
}

// Compile reads a JSON Schema, which may not refer to other documents. It asserts the
// formats date-time, as [format.ParseTime] reads it, and local-date-time, as
// [format.ParseLocalTime] does; all other formats are annotations.
func Compile(text string) (*Schema, error) {
	s := &Schema{root: new(jsonschema.Schema), patterns: map[string]*regexp.Regexp{}}
	if err := json.Unmarshal([]byte(text), s.root); err != nil {
		return nil, fmt.Errorf("reading a JSON Schema: %w", err)
	}
	if s.prepare(s.root) {
		return s, nil
	}
	var err error
	if s.library, err = s.root.Resolve(nil); err != nil { // takes several times as long as all else here
		return nil, fmt.Errorf("reading a JSON Schema: %w", err)
	}
	return s, nil
}

// MustCompile is Compile for a schema of this program's own.
func MustCompile(text string) *Schema {
	s, err := Compile(text)
	if err != nil {
		panic(err)
	}
	return s
}

// Definition returns the part of a schema that is called so in its $defs. The schema must have only keywords that [checker] knows.
func (s *Schema) Definition(name string) *Schema {
	part := *s
	part.root = &jsonschema.Schema{Defs: s.root.Defs, Ref: "#/$defs/" + name}
	return &part
}

// CompileForeign reads a JSON Schema of somebody who is not trusted, such as a server. It
// bounds the work of Check, and is not strict: keywords, references and patterns that it does
// not know are not checked, and anything else than a JSON Schema accepts every document.
func CompileForeign(text string) *Schema {
	s := &Schema{root: new(jsonschema.Schema), patterns: map[string]*regexp.Regexp{}, foreign: true}
	if err := json.Unmarshal([]byte(text), s.root); err != nil {
		s.root = new(jsonschema.Schema)
	}
	s.prepare(s.root)
	return s
}

// maxWork is the number of pairs of a schema and a value that Check looks at for a foreign
// schema.
const maxWork = 50_000

// maxReports is the number of problems reported for one document.
const maxReports = 100

// Check returns the problems of v in document order, or nil when v is valid. data is
// the text that v was parsed from; the reports have no path.
func (s *Schema) Check(v jsonvalue.Value, data []byte) []*syntax.Error {
	c := checker{schema: s}
	if s.foreign {
		c.work = new(int)
	}
	c.check(s.root, v, nil)
	if c.exhausted() {
		c.found = nil
		c.report(nil, v, "cannot be checked: its schema takes too much work")
	}
	if len(c.found) == 0 && s.library != nil {
		if err := s.library.Validate(plain(v)); err != nil {
			return []*syntax.Error{{Line: 1, Column: 1, Msg: err.Error()}}
		}
	}
	if len(c.found) == 0 {
		return nil
	}
	return c.locate(data)
}

// Damage returns the problems of a document as Check does, with its path. The first byte that is not UTF-8 is one, too.
func (s *Schema) Damage(path string, v jsonvalue.Value, data []byte) []*syntax.Error {
	found := s.Check(v, data)
	if report := format.NoUTF8(path, data); report != nil {
		found = slices.Insert(found, 0, report)
	}
	for _, report := range found {
		report.Path = path
	}
	return found
}

// plain converts a value for the library: the last of repeated members counts.
func plain(v jsonvalue.Value) any {
	switch v.Kind() {
	case jsonvalue.String:
		return v.Text()
	case jsonvalue.Number:
		n, _ := strconv.ParseFloat(bounded(v.Text()), 64) // the library takes a json.Number for a string
		return min(max(n, -math.MaxFloat64), math.MaxFloat64)
	case jsonvalue.Bool:
		return v.IsTrue()
	case jsonvalue.Array:
		items := make([]any, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = plain(item)
		}
		return items
	case jsonvalue.Object:
		members := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			members[m.Name] = plain(m.Value)
		}
		return members
	}
	return nil
}

// bounded limits digits and exponent of a number, so that it compares with the bounds
// of any schema as before but costs little to compute with: 1e999999999 has a billion
// digits.
func bounded(number string) string {
	const maxExponent, maxDigits = 300, 400
	at := strings.IndexAny(number, "eE")
	if at < 0 {
		if len(number) > maxDigits {
			number = number[:maxDigits]
		}
		return strings.TrimSuffix(number, ".")
	}
	mantissa := strings.TrimSuffix(number[:min(at, maxDigits)], ".")
	exponent, err := strconv.Atoi(strings.TrimPrefix(number[at+1:], "+"))
	if err != nil || exponent > maxExponent || exponent < -maxExponent {
		exponent = maxExponent
		if number[at+1] == '-' {
			exponent = -maxExponent
		}
	}
	return fmt.Sprintf("%se%d", mantissa, exponent)
}
