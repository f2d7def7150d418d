package markdown_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// userMetadata reads YAML as front matter.
func userMetadata(yaml string) (string, error) {
	doc, err := markdown.Decode(format.Source{Data: []byte("---\n" + yaml + "\n---\n")})
	if err != nil {
		return "", err
	}
	return doc.Header.UserMetadata.JSON(), nil
}

func TestYAML(t *testing.T) {
	for _, test := range []struct{ name, yaml, want string }{
		{"nothing", "", `{}`},
		{"a comment", "# nothing", `{}`},
		{"null", "~", `{}`},
		{"strings", "a: b\nc: 'd'\ne: \"f\\n\\u00e9\\0\"\ng: |\n  h\n  i\nj: >-\n  k\n  l", `{"a":"b","c":"d","e":"f\né\u0000","g":"h\ni\n","j":"k l"}`},
		{"null and booleans", "a: ~\nb: null\nc:\nd: true\ne: FALSE\nf: yes\ng: off\nh: 'true'", `{"a":null,"b":null,"c":null,"d":true,"e":false,"f":"yes","g":"off","h":"true"}`},
		{"numbers as JSON spells them", "a: 0\nb: -1\nc: 1.50\nd: 1e400\ne: 12345678901234567890123\nf: -0.0E-5", `{"a":0,"b":-1,"c":1.50,"d":1e400,"e":12345678901234567890123,"f":-0.0E-5}`},
		{"numbers as YAML spells them", "a: +1\nb: .5\nc: -.5e3\nd: 1.\ne: 0x1F\nf: 0o17\ng: +.5", `{"a":1,"b":0.5,"c":-0.5e3,"d":1.0,"e":31,"f":15,"g":0.5}`},
		{"what readers do not agree on", "a: 0777\nb: 1_000\nc: 2025-01-01\nd: 2025-01-01T10:00:00Z\ne: 12:30\nf: .inf\ng: .NaN\nh: 0b1\ni: -0x1\nj: 0x\nk: 0o8\nl: .\nm: '1'", `{"a":"0777","b":"1_000","c":"2025-01-01","d":"2025-01-01T10:00:00Z","e":"12:30","f":".inf","g":".NaN","h":"0b1","i":"-0x1","j":"0x","k":"0o8","l":".","m":"1"}`},
		{"tags", "a: !!str 1\nb: !!int '2'\nc: !mine x\nd: !!float 3\ne: !!str\nf: !!binary aGk=", `{"a":"1","b":2,"c":"x","d":3,"e":"","f":"aGk="}`},
		{"keys as they are spelled", "1: a\n1.0: b\ntrue: c\n~: d\n2025-01-01: e\n'': f", `{"1":"a","1.0":"b","true":"c","~":"d","2025-01-01":"e","":"f"}`},
		{"order", "b: 1\na: 2", `{"b":1,"a":2}`},
		{"nesting", "a:\n  - b: [1, {c: d}]\n  - []\n  - {}", `{"a":[{"b":[1,{"c":"d"}]},[],{}]}`},
		{"anchors", "a: &x {b: &y 1}\nc: *x\nd: [*y, *x]\n&k e: 1\nf: *k\n*k : 2", ``},
		{"aliases", "a: &x {b: &y 1}\nc: *x\nd: [*y, *x]\n&k e: 1\nf: *k", `{"a":{"b":1},"c":{"b":1},"d":[1,{"b":1}],"e":1,"f":"e"}`},
		{"merge keys", "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: *a, y: 5}\nd:\n  w: 0\n  <<: [*a, *b]", `{"a":{"x":1,"y":2},"b":{"y":3,"z":4},"c":{"x":1,"y":5},"d":{"w":0,"x":1,"y":2,"z":4}}`},
		{"a quoted merge key is a key", "\"<<\": 1", `{"<<":1}`},
		{"U+2028 and its like are no line ends", "a: b\u2028c\u0085d\u2029e\nf: '\u2028'", "{\"a\":\"b\u2028c\u0085d\u2029e\",\"f\":\"\u2028\"}"},
		{"private characters stay", "a: \U000F0000\u2028", "{\"a\":\"\U000F0000\u2028\"}"},
		{"invalid UTF-8", "a: \xff", "{\"a\":\"\ufffd\"}"},
		{"CRLF", "a: |\r\n  b\r\n  c\r", `{"a":"b\nc\n"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := userMetadata(test.yaml)
			if test.want == "" {
				if err == nil {
					t.Errorf("got %s, want an error", got)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, test.want)
			}
		})
	}
}

func TestYAMLErrors(t *testing.T) {
	bomb := "a: &a [" + strings.Repeat("x,", 100) + "]\n"
	for i := range 10 {
		name, before := string(rune('b'+i)), string(rune('a'+i))
		bomb += name + ": &" + name + " [" + strings.Repeat("*"+before+",", 100) + "]\n"
	}
	for _, test := range []struct{ name, yaml, want string }{
		{"a repeated key", "a: {b: 1,\n b: 2}", `3:2: front matter: the key "b" is there already`},
		{"a repeated key by its spelling", "1: a\n\"1\": b", `3:1: front matter: the key "1" is there already`},
		{"a key that is no scalar", "? [a]\n: b", `2:3: front matter: a mapping key is not a scalar, expected a string`},
		{"an alias inside its anchor", "a: &a [*a]", `2:8: front matter: the alias "a" is inside its own anchor`},
		{"an unknown alias", "a: *b", `2:4: front matter: unknown anchor 'b' referenced`},
		{"a merge key with text", "<<: x", `2:5: front matter: a merge key (<<) with no mapping, expected one or a sequence of them`},
		{"a bomb", bomb, `4:`},
		{"depth", "a: " + strings.Repeat("[", 999) + strings.Repeat("]", 999), `2:1: front matter: is nested too deep`},
		{"great depth", "a: " + strings.Repeat("[", 20_000), `exceeded max depth`},
		{"a control character", "a: \x01", `2:4: front matter: the character U+0001 is not allowed in YAML, expected an escape in double quotes`},
		{"size", "a: " + strings.Repeat("x", 1<<20), `2:1: front matter: the YAML is larger than 1 MiB`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := userMetadata(test.yaml)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.100s, %v\nwant %s", got, err, test.want)
			}
		})
	}
	_, err := markdown.Decode(format.Source{Data: []byte("```workspace-config\nresources: [{type: x}]\n---\na: 1\n```\n")})
	if want := "3:1: workspace-config block: a second YAML document, expected one"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFrontMatterIsPlainWhereItCanBe: the values without quotes, and text that
// is not front matter at all.
func TestFrontMatterIsPlainWhereItCanBe(t *testing.T) {
	for _, test := range []struct{ member, want string }{
		{`{"a": "b c, d. (e) f/g @h 1+1=2!"}`, "a: b c, d. (e) f/g @h 1+1=2!\n"},
		{`{"a": "x: y"}`, "a: \"x: y\"\n"},
		{`{"a": "x:y"}`, "a: x:y\n"},
		{`{"a": "x:"}`, "a: \"x:\"\n"},
		{`{"a": "x #y"}`, "a: \"x #y\"\n"},
		{`{"a": "x "}`, "a: \"x \"\n"},
		{`{"a": " x"}`, "a: \" x\"\n"},
		{`{"a": "2025-01-01"}`, "a: \"2025-01-01\"\n"},
		{`{"a": "No"}`, "a: \"No\"\n"},
		{`{"a": "-"}`, "a: \"-\"\n"},
		{`{"a": "/srv/x_y"}`, "a: /srv/x_y\n"},
		{`{"a": "\u2028\u0085\u007f\ufeff"}`, "a: \"\\u2028\\u0085\\u007f\\ufeff\"\n"},
		{`{"a": "😀"}`, "a: \"😀\"\n"},
		{`{"null": 1, "a-b": 2, "-a": 3, "": 4, "<<": 5, "1": 6}`, "\"null\": 1\na-b: 2\n\"-a\": 3\n\"\": 4\n\"<<\": 5\n\"1\": 6\n"},
		{`{}`, ""},
	} {
		v, err := jsonvalue.ParseValue([]byte(test.member))
		if err != nil {
			t.Fatal(err)
		}
		h := domarkx.NewHeader()
		h.UserMetadata = &v
		if got, want := string(markdown.RenderHeader(h)), "---\n"+test.want+"---\n"; got != want {
			t.Errorf("%s:\ngot  %q\nwant %q", test.member, got, want)
		}
	}
	for _, member := range []string{`{"a": "\ud83d"}`, `{"a": 1, "a": 2}`, `{"` + strings.Repeat("k", 1000) + `": 1}`, `{"a": {"\ude00": 1}}`} {
		v, err := jsonvalue.ParseValue([]byte(member))
		if err != nil {
			t.Fatal(err)
		}
		h := domarkx.NewHeader()
		h.UserMetadata = &v
		if got := string(markdown.RenderHeader(h)); !strings.HasPrefix(got, "```json domarkx-snapshot\n") {
			t.Errorf("%s: got %q", member, got)
		}
	}
}
