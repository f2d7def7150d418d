package jsontext_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

func edit(t interface{ Fatal(...any) }, text string) *jsontext.Edit {
	e, err := jsontext.New([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEdit(t *testing.T) {
	hook := transcript.Object("type", "command", "command", "a && b <c>")
	tests := []struct{ name, before, after string }{
		{"empty", "{}", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"type\": \"command\",\n        \"command\": \"a && b <c>\"\n      }\n    ]\n  }\n}"},
		{"a comment behind the last member", "{\n\t\"a\": 1 // one\n}\n", "{\n\t\"a\": 1, // one\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"type\": \"command\",\n\t\t\t\t\"command\": \"a && b <c>\"\n\t\t\t}\n\t\t]\n\t}\n}\n"},
		{"a trailing comma", "{\n \"a\": 1,\n}", "{\n \"a\": 1,\n \"hooks\": {\n  \"Stop\": [\n   {\n    \"type\": \"command\",\n    \"command\": \"a && b <c>\"\n   }\n  ]\n },\n}"},
		{"one line", `{"a": [1,], /* c */ "b": {}}`, `{"a": [1,], /* c */ "b": {}, "hooks": {"Stop": [{"type": "command", "command": "a && b <c>"}]}}`},
		{"an array with other items", "{\"hooks\": {\"Stop\": [\n      {\"x\": 1}\n    ]}}", "{\"hooks\": {\"Stop\": [\n      {\"x\": 1},\n      {\n        \"type\": \"command\",\n        \"command\": \"a && b <c>\"\n      }\n    ]}}"},
		{"CRLF", "{\r\n  \"hooks\": {\"Stop\": []}\r\n}", "{\r\n  \"hooks\": {\"Stop\": [\r\n    {\r\n      \"type\": \"command\",\r\n      \"command\": \"a && b <c>\"\r\n    }\r\n  ]}\r\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := edit(t, tt.before)
			if err := e.Append(hook, "hooks", "Stop"); err != nil {
				t.Fatal(err)
			}
			if got := string(e.Bytes()); got != tt.after {
				t.Errorf("got\n%s\nexpected\n%s", got, tt.after)
			}
		})
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                         "1:1: expected an object",
		"null":                       "1:1: expected an object",
		"":                           "2:1: parsing value: unexpected EOF",
		"{\n  \"a\" 1}":              "2:7: invalid character '1' after object name",
		"{\"a\": 1 \"b\": 2}":        `1:9: invalid character '"' after object value (expecting ',' or '}')`,
		"{\"a\": 1, \"a\": 2}":       `1:10: the name "a" is there twice`,
		"{\"a\": tru}":               "1:7: invalid literal: tru",
		"{} x":                       "1:4: invalid character 'x' after top-level value",
		"{ /* c":                     "1:3: parsing comment: unexpected EOF",
		"{\"é\": \"x":                "2:1: parsing string: unexpected EOF",
		"{a: 1}":                     "1:2: invalid literal: a",
		strings.Repeat(`{"a":`, 300): "1:1001: values are nested more than 200 deep",
		`{"a": "\\", // "{[", \"` + "\n/* \" [ */ \"[\": " + strings.Repeat("[", 210): "2:215: values are nested more than 200 deep",
		"{\"a\": \"\\x\"}":             `1:7: invalid literal: "\x"`,
		"{\"a\": 1}\n// fine\n/* */ 2": "3:7: invalid character '2' after top-level value",
	} {
		_, err := jsontext.New([]byte(text))
		var syntax *jsontext.SyntaxError
		if !errors.As(err, &syntax) || err.Error() != want {
			t.Errorf("%.40q: %v, expected %s", text, err, want)
		}
	}
	if err := edit(t, `{"hooks": {"Stop": 1}}`).Append(transcript.Num(1), "hooks", "Stop"); err == nil || err.Error() != "1:20: expected an array at hooks.Stop" {
		t.Errorf("appending to a number: %v", err)
	}
	if err := edit(t, `{"hooks": []}`).Append(transcript.Num(1), "hooks", "Stop"); err == nil || err.Error() != "1:11: expected an object at hooks" {
		t.Errorf("a member of an array: %v", err)
	}
}

// text draws a value with comments, odd white space and trailing commas.
func text(t *rapid.T, depth int) string {
	space := func() string {
		return rapid.SampledFrom([]string{"", "", " ", "\n", "\n  ", "\t", "\r\n", " /* c, \"x\": { */ ", " // c }\n", "\n\n    "}).Draw(t, "space")
	}
	kind := rapid.SampledFrom([]string{"object", "array", "scalar", "scalar"}).Draw(t, "kind")
	if depth == 0 {
		kind = "object"
	}
	if depth > 3 {
		kind = "scalar"
	}
	if kind == "scalar" {
		return rapid.SampledFrom([]string{`"a\"b"`, "1.5e3", "true", "null", `"//"`, `"é"`}).Draw(t, "scalar")
	}
	var b strings.Builder
	n := rapid.IntRange(0, 3).Draw(t, "parts")
	open, closing := "[", "]"
	if kind == "object" {
		open, closing = "{", "}"
	}
	b.WriteString(open + space())
	for i := range n {
		if kind == "object" {
			name := rapid.SampledFrom([][]string{{`"hooks"`, `"Stop"`}, {`"a"`, `"x"`}, {`"b,"`, `"y"`}}[i:i+1]).Draw(t, "names")
			b.WriteString(rapid.SampledFrom(name).Draw(t, "name") + space() + ":" + space())
		}
		b.WriteString(text(t, depth+1) + space())
		if i < n-1 || rapid.Bool().Draw(t, "trailing") {
			b.WriteString("," + space())
		}
	}
	return b.String() + closing
}

// TestUndo checks that removing an addition to a container with other parts gives the same
// bytes, and that the values of other parts keep theirs in any case.
func TestUndo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := text(t, 0)
		e := edit(t, before)
		path := []string{"new"}
		value := transcript.Object("command", "x", "list", transcript.List(transcript.Num(1), jsonvalue.BoolValue(true)))
		hadParts := len(jsontext.Names(e.Get())) > 0
		if err := e.Set(value, path...); err != nil {
			t.Fatal(err)
		}
		after := edit(t, string(e.Bytes()))
		if got := after.Get("new", "command"); jsontext.Text(got) != "x" {
			t.Fatalf("%q became %q", before, e.Bytes())
		}
		original := edit(t, before)
		for _, name := range jsontext.Names(original.Get()) {
			was, is := original.Get(name), after.Get(name)
			if is == nil || before[was.StartOffset:was.EndOffset] != string(after.Bytes()[is.StartOffset:is.EndOffset]) {
				t.Fatalf("%s changed: %q became %q", name, before, after.Bytes())
			}
		}
		e.Remove(path...)
		if hadParts && string(e.Bytes()) != before {
			t.Fatalf("%q came back as %q", before, e.Bytes())
		}
		if !hadParts && e.Get("new") != nil {
			t.Fatalf("it is still in %q", e.Bytes())
		}
	})
}

// FuzzParse checks that edits of any text that can be read keep it readable.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{}`, "{\n  // c\n  \"hooks\": {\"Stop\": [{},],},\n}", "\xef\xbb\xbf{\"a\":1}", `{"a":"\u00e9"}`, "[", `{"a":1,,}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := jsontext.New(data)
		if err != nil {
			var syntax *jsontext.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
				t.Fatalf("no position: %v", err)
			}
			return
		}
		before := string(e.Bytes())
		hadParts := len(jsontext.Names(e.Get())) > 0
		if e.Get("new name") != nil {
			return
		}
		if err := e.Set(transcript.Str("v"), "new name"); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		e.Remove("new name")
		if hadParts && string(e.Bytes()) != before {
			t.Fatalf("%q came back as %q", before, e.Bytes())
		}
	})
}
