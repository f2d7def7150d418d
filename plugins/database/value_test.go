package database_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/database"
	"pgregory.net/rapid"
)

func TestValue(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{nil, `null`},
		{true, `true`},
		{false, `false`},
		{int64(0), `0`},
		{int64(-7), `-7`},
		{int64(1<<53 - 1), `9007199254740991`},
		{int64(1 << 53), `"9007199254740992"`},
		{int64(-1<<53 + 1), `-9007199254740991`},
		{int64(math.MinInt64), `"-9223372036854775808"`},
		{0.0, `0.0`},
		{math.Copysign(0, -1), `-0.0`},
		{1.5, `1.5`},
		{3.0, `3.0`},
		{1e21, `1e+21`},
		{5e-324, `5e-324`},
		{math.Inf(1), `"Infinity"`},
		{math.Inf(-1), `"-Infinity"`},
		{math.NaN(), `"NaN"`},
		{"", `""`},
		{"é\x00", `"é\u0000"`},
		{"bad\xff", `{"base64":"YmFk/w=="}`},
		{[]byte("text"), `{"base64":"dGV4dA=="}`},
		{[]byte(nil), `{"base64":""}`},
		{struct{}{}, `null`},
	} {
		if got := database.Value(c.value).JSON(); got != c.want {
			t.Errorf("%#v: %s, expected %s", c.value, got, c.want)
		}
	}
}

// statement parses a statement with arguments as JSON.
func statement(t *testing.T, args string) (string, []database.Argument, error) {
	t.Helper()
	return database.Statement(domarkx.Call{Arguments: jsonvalue.MustParse(`{"sql": "SELECT 1", "args": ` + args + `}`)})
}

func TestArguments(t *testing.T) {
	for args, want := range map[string][]database.Argument{
		`[]`: nil,
		`{}`: nil,
		`[null, true, "x", 1, -2, 1.0, 1e3, {"base64": "AP8="}]`: {
			{}, {Value: true}, {Value: "x"}, {Value: int64(1)}, {Value: int64(-2)}, {Value: 1.0}, {Value: 1000.0}, {Value: []byte{0, 0xff}},
		},
		`[9223372036854775807, 0.1]`: {{Value: int64(math.MaxInt64)}, {Value: 0.1}},
		`{"b": 1, "a": null}`:        {{Name: "b", Value: int64(1)}, {Name: "a"}},
	} {
		sql, got, err := statement(t, args)
		if err != nil || sql != "SELECT 1" || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %#v, %v", args, sql, got, err)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	for args, want := range map[string]string{
		`[1, 9223372036854775808]`:            "args, item 2: the number is too large",
		`[1e999]`:                             "args, item 1: the number is too large",
		`[[1]]`:                               "args, item 1: expected a string",
		`[{}]`:                                "args, item 1: expected a string",
		`[{"base64": 1}]`:                     "args, item 1: expected a string",
		`[{"base64": "AA==", "more": 1}]`:     "args, item 1: expected a string",
		`[{"base64": "A"}]`:                   "args, item 1: base64 is not valid",
		`[{"base64": "_-8="}]`:                "args, item 1: base64 is not valid",
		`{"": 1}`:                             `args, "": expected the name of a parameter`,
		`{"a": 1, "b": 99999999999999999999}`: `args, "b": the number is too large`,
	} {
		_, got, err := statement(t, args)
		var tool *domarkx.ToolError
		if !errors.As(err, &tool) || tool.Code != domarkx.CodeInvalid || !strings.HasPrefix(tool.Message, want) || got != nil {
			t.Errorf("%s: %v, %v", args, got, err)
		}
	}
}

// TestValuesReturn checks that a value in a result is the same value as an argument, unless its
// JSON is a string for the sake of readers that round numbers.
func TestValuesReturn(t *testing.T) {
	value := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.Int64Range(-1<<53+1, 1<<53-1), func(v int64) any { return v }),
		rapid.Map(rapid.Float64().Filter(func(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }), func(v float64) any { return v }),
		rapid.Map(rapid.String(), func(v string) any { return v }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(v []byte) any { return v }),
	)
	rapid.Check(t, func(rt *rapid.T) {
		want := value.Draw(rt, "value")
		text := database.Value(want).JSON()
		_, got, err := statement(t, "["+text+"]")
		if err != nil || len(got) != 1 {
			rt.Fatalf("%s: %v, %v", text, got, err)
		}
		if data, ok := want.([]byte); ok {
			if back, ok := got[0].Value.([]byte); !ok || !bytes.Equal(back, data) {
				rt.Errorf("%s: %#v", text, got[0].Value)
			}
		} else if got[0].Value != want {
			rt.Errorf("%#v became %s, and that %#v", want, text, got[0].Value)
		}
	})
}

func TestToolsHaveSchemas(t *testing.T) {
	var names []string
	for _, tool := range database.Tools(`"?" takes the next one`) {
		names = append(names, tool.Name)
		text := tool.Schema.JSON()
		if parameters := tool.Name != "schema"; parameters != strings.Contains(text, `\"?\" takes the next one; bytes are {\"base64\"`) || tool.Description == "" {
			t.Errorf("%s: %s", tool.Name, text)
		}
		if more, _ := tool.Schema.Get("additionalProperties"); more.Kind() != jsonvalue.Bool || more.IsTrue() {
			t.Errorf("%s accepts other arguments: %s", tool.Name, text)
		}
	}
	if got := strings.Join(names, " "); got != "query execute schema" {
		t.Errorf("the tools are %s", got)
	}
}
