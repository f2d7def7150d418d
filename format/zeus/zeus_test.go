package zeus_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/format/zeus"
)

func decode(t testing.TB, data string) *domarkx.Document {
	t.Helper()
	doc, err := zeus.Codec().Decode(format.Source{Path: "s.json", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestGolden pins the Markdown of a snapshot, and that encoding it, directly or from the Markdown,
// restores the bytes of Zeus.
func TestGolden(t *testing.T) {
	original := formattest.Read(t, "testdata/fleet.json")
	doc := decode(t, original)
	if doc.Damage != nil {
		t.Errorf("damage: %v", doc.Damage)
	}
	md, err := markdown.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	formattest.Golden(t, "testdata/fleet.md", string(md))
	again, err := markdown.Decode(format.Source{Data: md})
	if err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]*domarkx.Document{"decoded": doc, "from Markdown": again} {
		var lost format.Losses
		out, err := zeus.Codec().Encode(doc, format.Target{Losses: &lost})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(original, string(out)); diff != "" {
			t.Errorf("%s (-original +written):\n%s", name, diff)
		}
		if lost.Len() > 0 {
			t.Errorf("%s: lost %q", name, lost.Texts())
		}
	}
}

const (
	kitty = `{"kind":"kitty","name":"n","agent_id":"i","cwd":"/w","session_path":"/s"}`
	whole = `{"schema_version":1,"entries":[` + kitty + `]}`
)

func TestValidity(t *testing.T) {
	for _, test := range []struct {
		text, want string // want begins the first report or the error; "" for a valid document
		refused    bool
	}{
		{whole, "", false},
		{"\ufeff" + whole, "s.json:1:1: begins with a byte order mark", false},
		{`{"schema_version":1.0,"entries":[]}`, "", false},
		{`{"schema_version":1,"created_at":"2026-02-18T18:40:00.000001","entries":[]}`, "", false},
		{`{"schema_version":1,"created_at":"today","entries":[]}`, `s.json:1:34: /created_at: is "today", expected a date and time, as in`, false},
		{`{"schema_version":1,"entries":[],"novel":[1]}`, "", false},

		{`{"schema_version":true,"entries":[]}`, "s.json:1:19: /schema_version: ", false},
		{strings.Replace(whole, `"kitty"`, `" KITTY "`, 1), `s.json:1:40: /entries/0/kind: is " KITTY ", expected one of`, false},
		{strings.Replace(whole, `,"session_path":"/s"`, ``, 1), `s.json:1:32: /entries/0: required member "session_path" is missing`, false},
		{`{"schema_version":1,"entries":[` + kitty + `,7]}`, `s.json:1:106: /entries/1: is 7, expected an object`, false},
		{`{"schema_version":1,"entries":[],"working_agent_ids":null}`, `s.json:1:54: /working_agent_ids: is null, expected an array`, false},
		{whole + whole, `s.json:1:107: `, false},
		{`{"schema_version":1e0,"entries":[]}`, "", false},
		{strings.Replace(whole, `"kind"`, `"x":-Infinity,"y":"NaN","kind"`, 1), `s.json:1:37: -Infinity is not JSON, expected a value; it is read as a string`, false},
		{"{\"é\":NaN,\"schema_version\":1,\n\"é\":[NaN,1],\"entries\":[{}]}", `s.json:2:24: /entries/0: required member "kind" is missing`, true},
		{"{\"schema_version\":1,\n\"é\":[NaN,1}", `s.json:2:11: unexpected '}', expected ',' or ']'; 1 bytes from 2:11 to 2:12, after 0 entries, could not be read`, true},
		{strings.Replace(whole, `/s"`, "/\xff\"", 1), `s.json:1:102: byte 0xff is not UTF-8; it reads as U+FFFD`, false},

		{`{"schema_version":2,"entries":[]}`, `s.json:1:19: /schema_version: schema_version is 2, expected 1`, true},
		{`{"schema_version":"1","entries":[]}`, `s.json:1:19: /schema_version: schema_version is "1", expected 1`, true},
		{`{"entries":[` + kitty + `]}`, `s.json:1:1: /schema_version: required member "schema_version" is missing`, true},
		{`{"schema_version":1}`, `s.json:1:1: required member "entries" is missing`, true},
		{`{"schema_version":1,"entries":{}}`, `s.json:1:31: /entries: is an object, expected an array`, true},
		{strings.Replace(whole, `"kitty"`, `"kity"`, 1), `s.json:1:40: /entries/0/kind: is "kity", expected "kitty", "stygian" or "hoplite"`, true},
		{strings.Replace(whole, `"kind":"kitty",`, ``, 1), `s.json:1:32: /entries/0: required member "kind" is missing`, true},
		{`[]`, `s.json:1:1: is not an object`, true},
	} {
		doc, err := zeus.Codec().Decode(format.Source{Path: "s.json", Data: []byte(test.text)})
		got := ""
		switch {
		case err != nil:
			var syntax *syntax.Error
			if !errors.As(err, &syntax) {
				t.Errorf("%s: %v is no syntax error", test.text, err)
			}
			got = err.Error()
		case len(doc.Damage) > 0:
			got = doc.Damage[0].Error()
		}
		if refused := err != nil; refused != test.refused || (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s:\ngot  %q, refused %v\nwant %q, refused %v", test.text, got, refused, test.want, test.refused)
		}
	}
}

// TestCutOff reads every beginning of a snapshot as far as it goes, or refuses it.
func TestCutOff(t *testing.T) {
	original := formattest.Read(t, "testdata/fleet.json")
	most := 0
	for n := range len(original) - 2 {
		doc, err := zeus.Codec().Decode(format.Source{Data: []byte(original[:n])})
		if err != nil {
			continue
		}
		if len(doc.Damage) == 0 {
			t.Fatalf("the first %d bytes: read without a report", n)
		}
		if len(doc.Conversation) < most {
			t.Fatalf("the first %d bytes: %d entries, fewer bytes gave %d", n, len(doc.Conversation), most)
		}
		most = len(doc.Conversation)
	}
	if most != 3 {
		t.Errorf("got %d entries at most, expected 3", most)
	}
}

// TestReadOn reads what stands behind damage.
func TestReadOn(t *testing.T) {
	original := formattest.Read(t, "testdata/fleet.json")
	entries := strings.SplitAfter(original, "\n    },\n")
	second := strings.Index(original, entries[1])
	for name, test := range map[string]struct {
		text, want string
		entries    int
	}{
		"entry":  {strings.Replace(original, entries[1], strings.Replace(entries[1], `": "`, `": \x00"`, 1), 1), fmt.Sprintf("%d bytes from ", len(entries[1])+len(`\x00`)), 2},
		"hole":   {original[:second] + strings.Repeat("\x00", len(entries[1])) + original[second+len(entries[1]):], ", after 1 entries, could not be read", 2},
		"first":  {strings.Replace(original, `"created_at": "`, `"created_at" "`, 1), "could not be read", 3},
		"last":   {strings.Replace(original, `"agent_id": "a-19"`, `"agent_id" "a-19"`, 1), ", after 2 entries, could not be read", 2},
		"behind": {strings.Replace(original, `"entry_count": `, `"entry_count" `, 1), ", after 3 entries, could not be read", 3},
	} {
		doc, err := zeus.Codec().Decode(format.Source{Path: "s.json", Data: []byte(test.text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(doc.Conversation) != test.entries || len(doc.Damage) == 0 || !strings.Contains(doc.Damage[0].Error(), test.want) {
			t.Errorf("%s: %d entries, want %d; %v, want %q", name, len(doc.Conversation), test.entries, doc.Damage, test.want)
		}
		if host := transcript.Text(*doc.Header.UserMetadata, "hostname"); host == "" && name != "behind" {
			t.Errorf("%s: what stands behind the entries is not read: %s", name, doc.Header.UserMetadata.JSON())
		}
	}
}

func TestDetect(t *testing.T) {
	for text, want := range map[string]bool{
		formattest.Read(t, "testdata/fleet.json"):       true,
		formattest.Read(t, "testdata/fleet.json")[:700]: true, // without schema_version, which comes last
		`{"schema_version":2,"entries":[]}`:             true,
		`{"schema_version":1}`:                          true,
		`{"schema_version":1,"x":2}`:                    false,
		`{"entries":[{"kind":"kitty"}]}`:                false,
		`{"version":"1.0","snapshot_id":"x","conversation":[{"kind":"a","session_path":"b"}]}`: false,
		`# entries`: false,
	} {
		if got := zeus.Detect([]byte(text), "x.json"); got != want {
			t.Errorf("%.60s: got %v, expected %v", text, got, want)
		}
	}
}

// TestForeign encodes a session that Zeus did not write.
func TestForeign(t *testing.T) {
	doc, err := markdown.Decode(format.Source{Data: []byte("---\ntitle: Hay\nhostname: [1]\ncreated_at: yesterday\nentries: []\n---\n\n## user\n\nHello.\n")})
	if err != nil {
		t.Fatal(err)
	}
	doc.Header.ImportTimestamp = "2026-01-02T03:04:05Z"
	var lost format.Losses
	out, err := zeus.Codec().Encode(doc, format.Target{Losses: &lost})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "created_at": "2026-01-02T03:04:05+00:00",
  "entries": [],
  "entry_count": 0,
  "hostname": "",
  "schema_version": 1,
  "title": "Hay",
  "working_agent_ids": []
}
`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"what is not an agent: 1 message", "user_metadata.hostname", "user_metadata.created_at", "user_metadata.entries"}, lost.Texts()); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if again := decode(t, string(out)); again.Damage != nil {
		t.Errorf("what was written is not valid: %v", again.Damage)
	}
}

// TestStrings writes any string so that it reads as the same.
func TestStrings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "string") + rapid.SampledFrom([]string{"", "\xed\xa0\x80", "\x7f\b\f\n\r\t\"\\", "\U0001f600"}).Draw(t, "odd")
		out := zeus.AppendJSON(nil, jsonvalue.StringValue(s))
		for _, c := range out {
			if c >= 0x7f {
				t.Fatalf("%q is not ASCII", out)
			}
		}
		v, err := jsonvalue.ParseValue(out)
		if err != nil || v.Text() != s {
			t.Fatalf("%q: read as %q, %v", s, v.Text(), err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(whole[:60]))
	f.Add([]byte(`{"schema_version":1,"entries":[1,{"kind":"hoplite","name":"## user\n\ud800"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := zeus.Codec().Decode(format.Source{Data: data})
		if err != nil {
			return
		}
		out, err := zeus.Codec().Encode(doc, format.Target{})
		if err != nil {
			t.Fatal(err)
		}
		again := decode(t, string(out))
		if again.Damage != nil && len(doc.Damage) == 0 {
			t.Fatalf("what was written is not valid: %v\n%s", again.Damage, out)
		}
		twice, err := zeus.Codec().Encode(again, format.Target{})
		if err != nil || string(twice) != string(out) {
			t.Fatalf("writing twice differs, %v:\n%s\n%s", err, out, twice)
		}
	})
}
