package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/domarkx/domarkx"
)

// A reporter turns the validator's findings into reports.
type reporter struct {
	root  domarkx.Value
	found []finding
}

type finding struct {
	offset  int
	pointer string
	msg     string
}

// add collects the findings at the ends of a tree of them.
func (r *reporter) add(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			if r.value(at).Kind() != domarkx.Object {
				return // all alternatives hold, and that it is no object is told already
			}
			r.report(at, "has the members of two forms, expected those of one")
			return
		}
		if nearest := r.nearest(e.Causes); nearest != nil {
			r.add(nearest)
		}
		return
	case *kind.Required:
		for _, name := range k.Missing {
			r.report(at, fmt.Sprintf("required member %q is missing", name))
		}
		return
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
		object := r.value(at)
		offsets := make(map[string]int, len(object.Members()))
		for _, m := range object.Members() {
			offsets[m.Name] = m.Value.Offset()
		}
		for _, name := range k.Properties { // there may be very many
			offset, ok := offsets[name]
			if !ok {
				offset = object.Offset()
			}
			r.found = append(r.found, finding{offset, pointerOf(at) + "/" + escaped.Replace(name), "is a member that is not known here, expected none of that name"})
		}
		return
	}
	if len(e.Causes) == 0 {
		r.report(at, r.describe(e.ErrorKind, r.value(at)))
	}
	for _, cause := range e.Causes {
		r.add(cause)
	}
}

// nearest returns the alternative that the value fits best: with the fewest members
// missing, the first of several.
func (r *reporter) nearest(alternatives []*jsonschema.ValidationError) *jsonschema.ValidationError {
	var best *jsonschema.ValidationError
	least := 0
	for _, e := range alternatives {
		tried := reporter{root: r.root}
		tried.add(e)
		if best == nil || len(tried.found) < least {
			best, least = e, len(tried.found)
		}
	}
	return best
}

func (r *reporter) describe(k jsonschema.ErrorKind, v domarkx.Value) string {
	found := spelled(v)
	switch k := k.(type) {
	case *kind.Type:
		kinds := make([]string, len(k.Want))
		for i, name := range k.Want {
			kinds[i] = article(name)
		}
		if slices.Contains(k.Want, v.Kind().String()) || v.Kind() != domarkx.Number {
			found = article(v.Kind().String())
		}
		return fmt.Sprintf("is %s, expected %s", found, strings.Join(kinds, " or "))
	case *kind.Const:
		return fmt.Sprintf("is %s, expected %s", found, quoted(k.Want))
	case *kind.Enum:
		wanted := make([]string, len(k.Want))
		for i, want := range k.Want {
			wanted[i] = quoted(want)
		}
		return fmt.Sprintf("is %s, expected one of %s", found, strings.Join(wanted, ", "))
	case *kind.MinLength:
		if k.Got == 0 {
			return "is empty, expected some text"
		}
		return fmt.Sprintf("is %s, expected at least %d characters", found, k.Want)
	case *kind.FalseSchema:
		return fmt.Sprintf("is %s, which cannot stand here with the rest", found)
	case *kind.MaxLength:
		return fmt.Sprintf("is %s, expected at most %d characters", found, k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("is %s, expected what the pattern %s matches", found, k.Want)
	case *kind.MinItems:
		return fmt.Sprintf("has %d items, expected %d or more", k.Got, k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("has %d items, expected %d at most", k.Got, k.Want)
	case *kind.Minimum:
		return fmt.Sprintf("is %s, expected %s or more", found, k.Want.RatString())
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("is %s, expected more than %s", found, k.Want.RatString())
	case *kind.Maximum:
		return fmt.Sprintf("is %s, expected %s or less", found, k.Want.RatString())
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("is %s, expected less than %s", found, k.Want.RatString())
	case *kind.Format:
		if k.Want == localTime {
			return fmt.Sprintf("is %s, expected a date and time, as in %q", found, "2006-01-02T15:04:05+00:00")
		}
		return fmt.Sprintf("is %s, expected a date and time with a zone, as in %q", found, "2006-01-02T15:04:05.000Z")
	}
	return fmt.Sprintf("is %s, which its schema forbids by %s", found, strings.Join(k.KeywordPath(), "/"))
}

// spelled is a value as a message quotes it.
func spelled(v domarkx.Value) string {
	const longest = 60
	switch v.Kind() {
	case domarkx.Array, domarkx.Object:
		return article(v.Kind().String())
	}
	text := v.JSON()
	if len(text) > longest {
		return article(v.Kind().String()) + " of " + strconv.Itoa(len(text)) + " bytes"
	}
	return text
}

func quoted(v any) string {
	if s, ok := v.(string); ok {
		return domarkx.StringValue(s).JSON()
	}
	return fmt.Sprint(v)
}

func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "array", "object", "integer":
		return "an " + kind
	}
	return "a " + kind
}

func (r *reporter) report(at []string, msg string) {
	r.found = append(r.found, finding{r.value(at).Offset(), pointerOf(at), msg})
}

// escaped spells names in pointers (RFC 6901).
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

func pointerOf(at []string) string {
	var pointer strings.Builder
	for _, token := range at {
		pointer.WriteString("/" + escaped.Replace(token))
	}
	return pointer.String()
}

// value returns the value at a place.
func (r *reporter) value(at []string) domarkx.Value {
	v := r.root
	for _, token := range at {
		if v.Kind() == domarkx.Array {
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(v.Items()) {
				return v
			}
			v = v.Items()[i]
			continue
		}
		member, ok := v.Get(token)
		if !ok {
			return v
		}
		v = member
	}
	return v
}

// locate returns the findings as reports, in order, and says how many more there
// were than are told.
func (r *reporter) locate(data []byte) []*domarkx.SyntaxError {
	slices.SortFunc(r.found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), strings.Compare(a.pointer, b.pointer), strings.Compare(a.msg, b.msg))
	})
	r.found = slices.Compact(r.found)
	reports := make([]*domarkx.SyntaxError, 0, min(len(r.found), maxReports+1))
	for i, f := range r.found {
		line, column := domarkx.Position(data, f.offset)
		if i == maxReports {
			f.pointer, f.msg = "", fmt.Sprintf("from here on %d more values are not as the format wants them", len(r.found)-i)
		}
		reports = append(reports, &domarkx.SyntaxError{Line: line, Column: column, Pointer: f.pointer, Msg: f.msg})
		if i == maxReports {
			break
		}
	}
	return reports
}
