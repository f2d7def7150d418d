package jsonvalue_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/syntax"
)

func parse(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("parsing %q: %v", text, err)
	}
	return v
}

func TestParseValueKeepsWhatWasWritten(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"order and repeated names", `{"b": 1, "a": 2, "b": null}`, `{"b":1,"a":2,"b":null}`},
		{"spelling of numbers", `[-0, 1.50, 1e400, 1E+2, 123456789012345678901234567890]`, `[-0,1.50,1e400,1E+2,123456789012345678901234567890]`},
		{"escapes", `"\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00"`, "\"\\\"\\\\/\\u0008\\u000c\\n\\r\\té" + "é😀\""},
		{"runs of escapes", `"` + strings.Repeat(`\n\t`, 100) + `\u0041\"\\"`, `"` + strings.Repeat(`\n\t`, 100) + `A\"\\"`},
		{"lone surrogates", `"\ud83d \uDE00\ud83d\ud83d\ude00"`, `"\ud83d \ude00\ud83d😀"`},
		{"control characters", `"\u0000\u001f` + "\x7f\u2028\"", "\"\\u0000\\u001f\x7f\u2028\""},
		{"invalid UTF-8", "\"a\xff\xc3\"", "\"a\ufffd\ufffd\""},
		{"surrogates in UTF-8 are invalid", "\"\xed\xa0\x80\"", "\"\ufffd\ufffd\ufffd\""},
		{"white space", " \t\r\n[ ] \n", "[]"},
		{"literals", `[true,false,null]`, `[true,false,null]`},
		{"deep", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), strings.Repeat("[", 1000) + strings.Repeat("]", 1000)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := parse(t, test.text).JSON(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestParseValueErrors(t *testing.T) {
	for _, test := range []struct {
		text, msg    string
		line, column int
	}{
		{"", "unexpected end of input, expected a JSON value", 1, 1},
		{"{\n  \"a\": tru\n}", `unexpected 't', expected a JSON value`, 2, 8},
		{"[1,]", `unexpected ']', expected a JSON value`, 1, 4},
		{"{\"a\" 1}", `unexpected '1', expected ':' after a member name`, 1, 6},
		{"{a: 1}", `unexpected 'a', expected a member name in double quotes`, 1, 2},
		{"[1 2]", `unexpected '2', expected ',' or ']'`, 1, 4},
		{"{\"a\": 1 \"b\": 2}", `unexpected '"', expected ',' or '}'`, 1, 9},
		{"1 x", `unexpected 'x' after the JSON value, expected the end`, 1, 3},
		{"\"é\n\"", "control character 0x0a in a string, expected an escape", 1, 3},
		{"\"a", `unexpected end of input in a string, expected '"'`, 1, 3},
		{`"\x"`, "unknown escape", 1, 2},
		{`"\n\t\x"`, "unknown escape", 1, 6},
		{`"\u12"`, "bad \\u escape", 1, 2},
		{"01", "unexpected '1' after the JSON value", 1, 2},
		{"-", "unexpected end of input, expected a digit", 1, 2},
		{"1.", "expected a digit after the decimal point", 1, 3},
		{"1e+", "expected a digit in the exponent", 1, 4},
		{"NaN", "unexpected 'N', expected a JSON value", 1, 1},
		{"\xff", "unexpected byte 0xff", 1, 1},
		{strings.Repeat("[", 1002), "nested deeper than 1000 levels", 1, 1002},
	} {
		_, err := jsonvalue.ParseValue([]byte(test.text))
		var at *syntax.Error
		if !errors.As(err, &at) {
			t.Errorf("%.20q: got %v, want a syntax error", test.text, err)
			continue
		}
		if at.Line != test.line || at.Column != test.column || !strings.Contains(at.Msg, test.msg) {
			t.Errorf("%.20q: got %v, want %d:%d: %s", test.text, err, test.line, test.column, test.msg)
		}
	}
}

func TestAppendJSONIndents(t *testing.T) {
	text := `{"a": [], "b": {}, "c": [1, {"d": "e"}], "f": null}`
	var want bytes.Buffer
	if err := json.Indent(&want, []byte(text), ">", "  "); err != nil {
		t.Fatal(err)
	}
	if got := string(parse(t, text).AppendJSON(nil, ">", "  ")); got != want.String() {
		t.Errorf("got %s, want %s", got, want.String())
	}
}

func TestAppendJSONOfDeepValuesStaysSmall(t *testing.T) {
	text := strings.Repeat("[", 900) + strings.Repeat("1,", 999) + "1" + strings.Repeat("]", 900)
	v := parse(t, text)
	pretty := v.AppendJSON(nil, "", "  ")
	if len(pretty) > 2*len(text) {
		t.Errorf("%d bytes became %d", len(text), len(pretty))
	}
	if again := parse(t, string(pretty)); !again.Equal(v) {
		t.Error("it is another value now")
	}
}

func TestDepth(t *testing.T) {
	for text, want := range map[string]int{`1`: 0, `[]`: 0, `[1]`: 1, `{"a": [1, {"b": []}]}`: 3} {
		if got := parse(t, text).Depth(); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	v := parse(t, `{"a": 1, "b": 2, "a": 3}`)
	if got, ok := v.Get("a"); !ok || got.JSON() != "3" {
		t.Errorf("Get gave %s, %t, want the last member", got.JSON(), ok)
	}
	if _, ok := v.Get("c"); ok {
		t.Error("Get found a member that is not there")
	}
	for _, test := range []struct{ got, want string }{
		{v.With("a", jsonvalue.BoolValue(true)).JSON(), `{"a":true,"b":2}`},
		{v.With("c", jsonvalue.Value{}).JSON(), `{"a":1,"b":2,"a":3,"c":null}`},
		{v.Without("a").JSON(), `{"b":2}`},
		{jsonvalue.Value{}.With("a", v).JSON(), `{"a":{"a":1,"b":2,"a":3}}`},
		{v.JSON(), `{"a":1,"b":2,"a":3}`},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a": 1, "b": [null]}`, `{"a":1,"b":[null]}`, true},
		{`{"a": 1, "b": 2}`, `{"b": 2, "a": 1}`, false},
		{`1.0`, `1`, false},
		{`"1"`, `1`, false},
		{`null`, `""`, false},
		{`[]`, `{}`, false},
		{`[1]`, `[1, 1]`, false},
	} {
		if got := parse(t, test.a).Equal(parse(t, test.b)); got != test.want {
			t.Errorf("%s and %s: got %t", test.a, test.b, got)
		}
	}
}

func TestPosition(t *testing.T) {
	data := []byte("aé\nb\r\n\xffz")
	for _, test := range []struct{ offset, line, column int }{
		{-1, 1, 1}, {0, 1, 1}, {1, 1, 2}, {3, 1, 3}, {4, 2, 1}, {7, 3, 1}, {8, 3, 2}, {99, 3, 3},
	} {
		if line, column := syntax.Position(data, test.offset); line != test.line || column != test.column {
			t.Errorf("offset %d: got %d:%d, want %d:%d", test.offset, line, column, test.line, test.column)
		}
	}
}

func TestSyntaxErrorText(t *testing.T) {
	for want, e := range map[string]syntax.Error{
		"a.md:3:4: bad":       {Path: "a.md", Line: 3, Column: 4, Msg: "bad"},
		"a.md:3: bad":         {Path: "a.md", Line: 3, Msg: "bad"},
		"a.md: bad":           {Path: "a.md", Msg: "bad"},
		"3:4: /x/0: bad":      {Line: 3, Column: 4, Pointer: "/x/0", Msg: "bad"},
		"bad":                 {Msg: "bad"},
		"a.json:1:1: /y: bad": {Path: "a.json", Line: 1, Column: 1, Pointer: "/y", Msg: "bad"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestStringsSurvive: any string a JSON text can hold is written so that it reads
// as itself, and as valid JSON.
func TestStringsSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOf(rapid.OneOf(rapid.Uint16(), rapid.Uint16Range(0xD7F0, 0xE010), rapid.Uint16Range(0, 0x80))).Draw(t, "units")
		text := `"`
		for _, u := range units {
			text += `\u` + string("0123456789abcdef"[u>>12]) + string("0123456789abcdef"[u>>8&15]) +
				string("0123456789abcdef"[u>>4&15]) + string("0123456789abcdef"[u&15])
		}
		text += `"`
		v, err := jsonvalue.ParseValue([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		written := v.JSON()
		again, err := jsonvalue.ParseValue([]byte(written))
		if err != nil || !again.Equal(v) {
			t.Fatalf("%s was written as %s, which reads as %s, %v", text, written, again.JSON(), err)
		}
		if !json.Valid([]byte(written)) {
			t.Fatalf("%s is not JSON", written)
		}
	})
}

// TestDistinct: members are made distinct as setting one after the other makes them.
func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var members []jsonvalue.Member
		want := jsonvalue.ObjectValue()
		for i, name := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 40).Draw(t, "names") {
			m := jsonvalue.Member{Name: name, Value: jsonvalue.NumberValue(strconv.Itoa(i))}
			members, want = append(members, m), want.With(m.Name, m.Value)
		}
		if got := jsonvalue.ObjectValue(jsonvalue.Distinct(members)...); !got.Equal(want) {
			t.Fatalf("%s, expected %s", got.JSON(), want.JSON())
		}
	})
}
