// Package schema checks JSON documents against JSON Schemas and says what is wrong
// with them where it stands: with line, column and JSON pointer, what was found and
// what was expected.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// A Schema is a JSON Schema that documents are checked against. It may be used by
// several goroutines.
type Schema struct {
	rule      *rule // nil when rules cannot say it
	validator func() (*jsonschema.Schema, error)
}

// Compile reads a JSON Schema that refers to nothing outside. The formats date-time, as
// [format.ParseTime] reads it, and local-date-time, as [format.ParseLocalTime] does, are
// checked.
func Compile(text string) (*Schema, error) {
	s := &Schema{readRule(text), sync.OnceValues(func() (*jsonschema.Schema, error) { return compile(text) })}
	if s.rule != nil { // else nothing is known of it yet
		return s, nil
	}
	_, err := s.validator()
	return s, err
}

// compile makes the validator, which takes longer than to check most documents.
func compile(text string) (*jsonschema.Schema, error) {
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading a JSON Schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	for name := range times {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error { return checkTime(name, v) }})
	}
	compiler.AssertFormat()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		return nil, fmt.Errorf("reading a JSON Schema: %w", err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		return nil, fmt.Errorf("reading a JSON Schema: %w", err)
	}
	return compiled, nil
}

// times read the formats of times. The second is of this package: JSON Schema knows none
// without a zone.
var times = map[string]func(string) (time.Time, bool){"date-time": format.ParseTime, localTime: format.ParseLocalTime}

const localTime = "local-date-time"

var errNoTime = errors.New("no date and time")

func checkTime(name string, v any) error {
	if s, ok := v.(string); ok {
		if _, ok := times[name](s); !ok {
			return errNoTime
		}
	}
	return nil
}

// maxReports bounds how many reports there are on one document.
const maxReports = 100

// Check returns what is wrong with v, which was parsed from data, in the order in
// which it stands there; nil when nothing is. The reports have no path.
func (s *Schema) Check(v domarkx.Value, data []byte) []*domarkx.SyntaxError {
	if s.rule != nil && s.rule.check(v, 0) == holds {
		return nil
	}
	validator, err := s.validator()
	if err != nil {
		return []*domarkx.SyntaxError{{Msg: err.Error(), Err: err}}
	}
	err = validator.Validate(plain(v))
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	r := reporter{root: v}
	r.add(invalid)
	return r.locate(data)
}

// plain returns a value as the validator wants it: of repeated names the last.
func plain(v domarkx.Value) any {
	switch v.Kind() {
	case domarkx.String:
		return v.Text()
	case domarkx.Number:
		return json.Number(bounded(v.Text()))
	case domarkx.Bool:
		return v.IsTrue()
	case domarkx.Array:
		items := make([]any, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = plain(item)
		}
		return items
	case domarkx.Object:
		members := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			members[m.Name] = plain(m.Value)
		}
		return members
	}
	return nil
}

// bounded returns a number that is as large or small as any schema can tell, but
// costs no more to compute with: 1e999999999 has a billion digits.
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
