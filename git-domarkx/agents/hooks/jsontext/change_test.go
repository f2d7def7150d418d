package jsontext_test

import (
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
)

// TestRemove checks that only the removed part goes: comments, order and white space around it stay.
func TestRemove(t *testing.T) {
	for name, test := range map[string]struct{ before, path, after string }{
		"first":                      {`{"a": 1, "b": 2}`, "a", `{ "b": 2}`},
		"last":                       {`{"a": 1, "b": 2}`, "b", `{"a": 1}`},
		"only":                       {`{"a": 1}`, "a", `{}`},
		"only, in lines":             {"{\n  \"a\": 1\n}\n", "a", "{}\n"},
		"in the middle":              {"{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "b", "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		"last with a trailing comma": {"{\n  \"a\": 1,\n  \"b\": 2,\n}", "b", "{\n  \"a\": 1,\n}"},
		"a comment before the comma": {`{"a": 1 /* one */, "b": 2}`, "a", `{ /* one */ "b": 2}`},
		"a comment behind the last":  {"{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}", "b", "{\n  \"a\": 1 // one\n // two\n}"},
		"comments around":            {"{ // one\n \"b\": 2 /* two */, \"c\": 3}", "b", "{ // one\n /* two */ \"c\": 3}"},
		"a brace behind a comment":   {"{\"a\": 1, // one\n \"b\": 2 }", "b", "{\"a\": 1 // one\n }"},
		"a comment, then the only":   {"{ // one\n \"b\": 2}", "b", "{ // one\n}"},
		"a comment, then the first":  {"{ // one\n \"b\": 2, \"c\": 3}", "b", "{ // one\n \"c\": 3}"},
		"a comment alone stays":      {"{\n  // about a\n  \"a\": 1\n}", "a", "{\n  // about a\n}"},
		"below":                      {`{"x": {"y": {"a": 1, "b": [2]}}}`, "x.y.a", `{"x": {"y": { "b": [2]}}}`},
		"missing":                    {`{"a": 1}`, "b", `{"a": 1}`},
		"missing on the way":         {`{"a": 1}`, "x.y", `{"a": 1}`},
		"below a number":             {`{"a": 1}`, "a.b", `{"a": 1}`},
		"below an array":             {`{"a": [1]}`, "a.b", `{"a": [1]}`},
		"a name with an escape":      {`{"\u0061": 1, "b": 2}`, "a", `{ "b": 2}`},
		"after a byte order mark":    {"\xef\xbb\xbf{\"a\": 1}", "a", "\xef\xbb\xbf{}"},
	} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, test.before)
			e.Remove(strings.Split(test.path, ".")...)
			if got := string(e.Bytes()); got != test.after {
				t.Errorf("got\n%s\nexpected\n%s", got, test.after)
			}
		})
	}
}

func TestRemoveItem(t *testing.T) {
	for name, test := range map[string]struct {
		before string
		item   int
		after  string
	}{
		"first":         {`{"l": [1, {"x": 2}, 3]}`, 0, `{"l": [ {"x": 2}, 3]}`},
		"in the middle": {`{"l": [1, {"x": 2}, 3]}`, 1, `{"l": [1, 3]}`},
		"last":          {`{"l": [1, {"x": 2}, 3]}`, 2, `{"l": [1, {"x": 2}]}`},
		"only":          {"{\"l\": [\n    1\n  ]}", 0, `{"l": []}`},
	} {
		e := edit(t, test.before)
		e.RemovePart(e.Get("l"), test.item)
		if got := string(e.Bytes()); got != test.after {
			t.Errorf("%s: got %s, expected %s", name, got, test.after)
		}
	}
	e := edit(t, `{"l": [[1, 2], 3]}`)
	e.RemovePart(jsontext.Items(e.Get("l"))[0], 1)
	if got := string(e.Bytes()); got != `{"l": [[1], 3]}` {
		t.Errorf("an item of an array in an array: %s", got)
	}
}

// TestSet checks how values of each kind are written, and where.
func TestSet(t *testing.T) {
	members := transcript.Object("b", int64(1), "a", transcript.List())
	for name, test := range map[string]struct {
		before string
		value  jsonvalue.Value
		path   string
		after  string
	}{
		"another string":        {`{"a": "x", "b": 1}`, transcript.Str("y"), "a", `{"a": "y", "b": 1}`},
		"signs of markup":       {`{}`, transcript.Str("<a> & \"b\" \\ \u2028"), "s", "{\n  \"s\": \"<a> & \\\"b\\\" \\\\ \u2028\"\n}"},
		"a control character":   {`{"s": 1}`, transcript.Str("\x01\n"), "s", `{"s": "\u0001\n"}`},
		"a number":              {`{"a": "x"}`, transcript.Num(15), "a", `{"a": 15}`},
		"a boolean":             {`{"a": "x"}`, jsonvalue.BoolValue(false), "a", `{"a": false}`},
		"an array":              {"{\n  \"a\": 1\n}", transcript.List(transcript.Str("x"), transcript.Num(2)), "a", "{\n  \"a\": [\n    \"x\",\n    2\n  ]\n}"},
		"nothing in it":         {"{\n  \"a\": 1\n}", transcript.Object(), "a", "{\n  \"a\": {}\n}"},
		"order of members":      {"{\n\t\"a\": 1\n}", members, "a", "{\n\t\"a\": {\n\t\t\"b\": 1,\n\t\t\"a\": []\n\t}\n}"},
		"missing on the way":    {"{\n  \"a\": 1\n}", jsonvalue.BoolValue(true), "x.y.z", "{\n  \"a\": 1,\n  \"x\": {\n    \"y\": {\n      \"z\": true\n    }\n  }\n}"},
		"a name to be escaped":  {`{"a": 1}`, transcript.Num(2), `q"`, `{"a": 1, "q\"": 2}`},
		"where an object was":   {`{"a": {"deep": [1, 2]}, /* c */ "b": 1}`, transcript.Str("x"), "a", `{"a": "x", /* c */ "b": 1}`},
		"in an empty one below": {`{"a": {}}`, transcript.Num(1), "a.b", "{\"a\": {\n  \"b\": 1\n}}"},
	} {
		t.Run(name, func(t *testing.T) {
			e := edit(t, test.before)
			if err := e.Set(test.value, strings.Split(test.path, ".")...); err != nil {
				t.Fatal(err)
			}
			if got := string(e.Bytes()); got != test.after {
				t.Errorf("got\n%s\nexpected\n%s", got, test.after)
			}
		})
	}
	for text, path := range map[string]string{`{"a": 1}`: "a.b", `{"a": []}`: "a.b", `{"a": "x"}`: "a.b.c", `{"a": {"b": null}}`: "a.b.c"} {
		e := edit(t, text)
		if err := e.Set(transcript.Num(1), strings.Split(path, ".")...); err == nil || !strings.Contains(err.Error(), "expected an object at a") {
			t.Errorf("%s of %s: %v", path, text, err)
		}
		if string(e.Bytes()) != text {
			t.Errorf("%s became %s", text, e.Bytes())
		}
	}
}

// TestValues checks the values that are read from a text, also where something else is there.
func TestValues(t *testing.T) {
	const text = `{"s": "a\u00e9\ud83d\ude00\n", "n": -1.5e3, "t": true, "z": null, "l": [1, "x"], "o": {"k": {}}, "c": {/* c */}}`
	e := edit(t, text)
	for name, want := range map[string]string{"s": "aé😀\n", "n": "", "l": "", "missing": ""} {
		if got := jsontext.Text(e.Get(name)); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := strings.Join(jsontext.Names(e.Get()), " "); got != "s n t z l o c" {
		t.Errorf("the names are %s", got)
	}
	if items := jsontext.Items(e.Get("l")); len(items) != 2 || jsontext.Text(items[1]) != "x" {
		t.Errorf("the items are %+v", items)
	}
	for _, v := range []*hujson.Value{nil, e.Get("missing"), e.Get("s", "k"), e.Get("l", "0"), e.Get("missing", "k")} {
		if v != nil || jsontext.Member(v, "x") != nil || jsontext.Items(v) != nil || jsontext.Names(v) != nil || jsontext.IsBare(v) {
			t.Errorf("nothing is %+v", v)
		}
	}
	if jsontext.Items(e.Get("s")) != nil || jsontext.Items(e.Get("o")) != nil || jsontext.Names(e.Get("l")) != nil {
		t.Error("a value of another kind has parts")
	}
	for _, name := range []string{"o", "l", "c", "s"} {
		if jsontext.IsBare(e.Get(name)) {
			t.Errorf("%s is bare", name)
		}
	}
	if !jsontext.IsBare(e.Get("o", "k")) {
		t.Error("an empty object is not bare")
	}
}

// TestRemoveAny removes members of any text, one after another. The text stays readable, and the others keep theirs.
func TestRemoveAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := text(t, 0)
		e := edit(t, before)
		for names := jsontext.Names(e.Get()); len(names) > 0; names = jsontext.Names(e.Get()) {
			gone := rapid.SampledFrom(names).Draw(t, "gone")
			values := map[string]string{}
			for _, name := range names {
				v := e.Get(name)
				values[name] = string(e.Bytes()[v.StartOffset:v.EndOffset])
			}
			e.Remove(gone)
			for name, was := range values {
				v := e.Get(name)
				if (v == nil) != (name == gone) || v != nil && string(e.Bytes()[v.StartOffset:v.EndOffset]) != was {
					t.Fatalf("%q without %s became %q", before, gone, e.Bytes())
				}
			}
		}
	})
}
