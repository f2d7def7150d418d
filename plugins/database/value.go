package database

import (
	"encoding/base64"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

// exact is the greatest integer such that a float64 represents it and all smaller ones.
const exact = 1<<53 - 1

// Value encodes an SQL value as JSON: nil, a bool, int64, float64, string or []byte.
func Value(v any) jsonvalue.Value {
	switch v := v.(type) {
	case bool:
		return jsonvalue.BoolValue(v)
	case int64:
		digits := strconv.FormatInt(v, 10)
		if v > exact || v < -exact {
			return jsonvalue.StringValue(digits)
		}
		return jsonvalue.NumberValue(digits)
	case float64:
		return real(v)
	case string:
		if utf8.ValidString(v) {
			return jsonvalue.StringValue(v)
		}
		return blob([]byte(v))
	case []byte:
		return blob(v)
	}
	return jsonvalue.Value{}
}

func real(v float64) jsonvalue.Value {
	switch {
	case math.IsNaN(v):
		return jsonvalue.StringValue("NaN")
	case math.IsInf(v, 1):
		return jsonvalue.StringValue("Infinity")
	case math.IsInf(v, -1):
		return jsonvalue.StringValue("-Infinity")
	}
	digits := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(digits, ".e") {
		digits += ".0"
	}
	return jsonvalue.NumberValue(digits)
}

const base64Name = "base64"

func blob(b []byte) jsonvalue.Value {
	return jsonvalue.ObjectOf(base64Name, base64.StdEncoding.EncodeToString(b))
}

// An Argument is one of the "args" of a statement, by position or name.
type Argument struct {
	Name  string // "" if by position
	Value any    // nil, a bool, int64, float64, string or []byte
}

// Statement parses the arguments of the tools query and execute.
func Statement(call domarkx.Call) (sql string, args []Argument, err error) {
	v, _ := call.Arguments.Get("sql")
	list, _ := call.Arguments.Get("args")
	for i, item := range list.Items() {
		value, err := argument(item)
		if err != nil {
			return "", nil, domarkx.NewToolError(domarkx.CodeInvalid, "args, item %d: %v", i+1, err)
		}
		args = append(args, Argument{Value: value})
	}
	for _, m := range list.Members() {
		value, err := argument(m.Value)
		if m.Name == "" {
			err = errors.New("expected the name of a parameter")
		}
		if err != nil {
			return "", nil, domarkx.NewToolError(domarkx.CodeInvalid, "args, %q: %v", m.Name, err)
		}
		args = append(args, Argument{Name: m.Name, Value: value})
	}
	return v.Text(), args, nil
}

func argument(v jsonvalue.Value) (any, error) {
	switch v.Kind() {
	case jsonvalue.Null:
		return nil, nil
	case jsonvalue.Bool:
		return v.IsTrue(), nil
	case jsonvalue.String:
		return v.Text(), nil
	case jsonvalue.Number:
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		if err == nil {
			return n, nil
		}
		f, ferr := strconv.ParseFloat(v.Text(), 64)
		if ferr != nil || !strings.ContainsAny(v.Text(), ".eE") { // the conversion would change the number
			return nil, errors.New("the number is too large; give it as a string")
		}
		return f, nil
	}
	encoded, ok := v.Get(base64Name)
	if !ok || len(v.Members()) != 1 || encoded.Kind() != jsonvalue.String {
		return nil, errors.New("expected a string, number, boolean, null or {\"base64\": \"…\"}")
	}
	data, err := base64.StdEncoding.DecodeString(encoded.Text())
	if err != nil {
		return nil, errors.New("base64 is not valid Base64 (RFC 4648, section 4)")
	}
	return data, nil
}
