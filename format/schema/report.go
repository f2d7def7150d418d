package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

// A problem is a violation of the schema. Its description is formatted only when it is reported,
// because most problems of alternatives (anyOf, oneOf) never are.
type problem struct {
	value jsonvalue.Value
	at    *step
	msg   string // a format for args
	args  []any
}

func (c *checker) report(at *step, v jsonvalue.Value, msg string, args ...any) {
	if c.work != nil && len(c.found) == maxReports {
		return
	}
	c.found = append(c.found, problem{v, at, msg, args})
}

// escaped writes names for pointers (RFC 6901, section 3).
var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the JSON pointer to a value.
func (s *step) pointer() string {
	if s == nil {
		return ""
	}
	if s.isItem {
		return s.parent.pointer() + "/" + strconv.Itoa(s.index)
	}
	return s.parent.pointer() + "/" + escaped.Replace(s.name)
}

// A spelling is a value in the form in which a message quotes it.
type spelling jsonvalue.Value

func (s spelling) String() string {
	const longest = 60
	v := jsonvalue.Value(s)
	switch v.Kind() {
	case jsonvalue.Array, jsonvalue.Object:
		return syntax.Article(v.Kind().String())
	}
	text := v.JSON()
	if len(text) > longest {
		return syntax.Article(v.Kind().String()) + " of " + strconv.Itoa(len(text)) + " bytes"
	}
	return text
}

// quoted returns a value of a schema as JSON.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// locate returns the problems in document order with their positions. If there are more than
// maxReports, it returns the first ones, and one that states the number of the others.
func (c *checker) locate(data []byte) []*syntax.Error {
	type description struct {
		offset       int
		pointer, msg string
	}
	found := make([]description, len(c.found))
	for i, p := range c.found {
		found[i] = description{p.value.Offset(), p.at.pointer(), fmt.Sprintf(p.msg, p.args...)}
	}
	slices.SortFunc(found, func(a, b description) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), strings.Compare(a.pointer, b.pointer), strings.Compare(a.msg, b.msg))
	})
	found = slices.Compact(found)
	reports := make([]*syntax.Error, 0, min(len(found), maxReports+1))
	for i, f := range found {
		line, column := syntax.Position(data, f.offset)
		if i == maxReports {
			f.pointer, f.msg = "", fmt.Sprintf("from here on %d more values are not as the format wants them", len(found)-i)
		}
		reports = append(reports, &syntax.Error{Line: line, Column: column, Pointer: f.pointer, Msg: f.msg})
		if i == maxReports {
			break
		}
	}
	return reports
}
