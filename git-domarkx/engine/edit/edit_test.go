package edit_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// document returns a document with messages, alternately of the user and the assistant, unless a
// text says "role: ".
func document(head string, texts ...string) string {
	var b strings.Builder
	b.WriteString(head)
	for i, text := range texts {
		role := [2]string{"user", "assistant"}[i%2]
		if before, after, ok := strings.Cut(text, ": "); ok {
			role, text = before, after
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n", role, text)
	}
	return b.String()
}

// ids returns the ids of the messages of a session.
func ids(c *enginetest.Clone, name string) []domarkx.ID {
	c.T.Helper()
	var all []domarkx.ID
	for e, err := range c.MessagesBackward(c.T.Context(), c.Tip(name)) {
		if err != nil {
			c.T.Fatal(err)
		}
		all = append(all, e.ID)
	}
	slices.Reverse(all)
	return all
}

const long = " This sentence makes the message long enough to be recognised when a few of its words change."

// TestIdentityOfMessages edits a session of four messages. The numbers say which message of the
// base each message of the result is, -1 a new one.
func TestIdentityOfMessages(t *testing.T) {
	base := []string{"One." + long, "Two." + long, "Three." + long, "Four." + long}
	tests := []struct {
		name  string
		texts []string
		are   []int
	}{
		{"nothing", base, []int{0, 1, 2, 3}},
		{"appended", append(slices.Clone(base), "Five."), []int{0, 1, 2, 3, -1}},
		{"inserted first", append([]string{"assistant: Zero."}, "user: "+base[0], "assistant: "+base[1], "user: "+base[2], "assistant: "+base[3]), []int{-1, 0, 1, 2, 3}},
		{"inserted", []string{base[0], base[1], "Between.", "Also between.", base[2], base[3]}, []int{0, 1, -1, -1, 2, 3}},
		{"removed", []string{base[0], base[3]}, []int{0, 3}},
		{"removed first", []string{"assistant: " + base[1], "user: " + base[2], "assistant: " + base[3]}, []int{1, 2, 3}},
		{"all removed", nil, []int{}},
		{"changed a little", []string{base[0], strings.Replace(base[1], "few", "handful", 1), base[2], base[3]}, []int{0, 1, 2, 3}},
		{"changed at the end", []string{base[0], base[1], base[2], base[3] + " And more."}, []int{0, 1, 2, 3}},
		{"changed and appended", []string{base[0], base[1], base[2] + " More.", base[3], "Five."}, []int{0, 1, 2, 3, -1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := enginetest.New(t)
			c.ImportMarkdown(c.WriteFile("s.md", document("", base...)))
			before := ids(c, "s")
			want := document("", test.texts...)
			c.Saved("s", c.Tip("s").ID, want)
			if got := c.Shown("s"); got != want {
				t.Errorf("the session reads %q, expected %q", got, want)
			}
			after := ids(c, "s")
			if len(after) != len(test.are) {
				t.Fatalf("%d messages, expected %d", len(after), len(test.are))
			}
			for i, k := range test.are {
				if k >= 0 && after[i] != before[k] {
					t.Errorf("message %d is %d, expected %d of the base", i, slices.Index(before, after[i]), k)
				}
				if k < 0 && slices.Contains(before, after[i]) {
					t.Errorf("message %d is %d of the base, expected a new one", i, slices.Index(before, after[i]))
				}
			}
			c.Fsck()
		})
	}
}

// TestEditsKeepBytes makes random edits: saved bytes read back byte for byte, no id is used
// twice, and messages that are in both states at the same place keep their ids.
func TestEditsKeepBytes(t *testing.T) {
	c := enginetest.New(t)
	number := 0
	gittest.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		number++
		name := fmt.Sprintf("s%d", number)
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"One.", "Two.", "Three.", "- a\n- b", "```sh\nls\n```", "> quoted", "é 😀", "assistant: Again.", "user: Again.", "Long." + long}), 0, 8)
		heads := rapid.SampledFrom([]string{"", "---\ntitle: A\n---\n", "---\ntitle: B\ntags: [x, y]\n---\n", "Some preamble.\n"})
		first := document(heads.Draw(t, "head"), texts.Draw(t, "base")...)
		c.ImportMarkdown(c.WriteFile(name+".md", first))
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			before, shown := ids(c, name), c.Shown(name)
			next := document(heads.Draw(t, "head"), texts.Draw(t, "next")...)
			c.Saved(name, c.Tip(name).ID, next)
			if got := c.Shown(name); got != next {
				t.Fatalf("saved %q after %q, and it reads %q", next, shown, got)
			}
			after := ids(c, name)
			seen := map[domarkx.ID]bool{}
			for _, id := range after {
				if seen[id] {
					t.Fatalf("two messages of %q have one id", next)
				}
				seen[id] = true
			}
			if shown == next && !slices.Equal(before, after) {
				t.Fatalf("saving %q again changed ids", next)
			}
		}
	})
	c.Fsck()
}

// TestSavingTheSameIsNoSnapshot saves a document that says the same.
func TestSavingTheSameIsNoSnapshot(t *testing.T) {
	c := enginetest.New(t)
	text := document("---\ntitle: A\n---\n", "One.", "Two.")
	c.ImportFile(c.WriteFile("s.md", text))
	tip := c.Tip("s").ID
	c.Saved("s", tip, text)
	if got := c.Tip("s").ID; got != tip {
		t.Errorf("saving the same moved the session from %s to %s", tip, got)
	}
	c.Saved("s", tip, strings.Replace(text, "title: A", "title: B", 1))
	if got := c.Tip("s"); got.ID == tip || got.Messages != 2 {
		t.Errorf("after a change of the header: %+v", got)
	}
}

func value(t *testing.T, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestJSONKey(t *testing.T) {
	same := [][]string{
		{`{"a": 1, "b": [1, 2]}`, `{"b":[1,2],"a":1}`},
		{`{"a": {"x": null, "y": true}}`, `{"a":{"y":true,"x":null}}`},
		{`"é"`, `"\u00e9"`},
		{`[]`, `[ ]`},
	}
	for _, texts := range same {
		if edit.JSONKey(value(t, texts[0])) != edit.JSONKey(value(t, texts[1])) {
			t.Errorf("%s and %s have different keys", texts[0], texts[1])
		}
	}
	different := []string{`1`, `"1"`, `[1]`, `[[1]]`, `{"1": 1}`, `{"1": "1"}`, `null`, `"null"`, `true`, `[1, 2]`, `[2, 1]`, `["1,2"]`, `{"a": 1, "b": 2}`, `{"a": 2, "b": 1}`, `{}`, `[]`, `""`}
	keys := map[domarkx.Key]string{}
	for _, text := range different {
		key := edit.JSONKey(value(t, text))
		if other, ok := keys[key]; ok {
			t.Errorf("%s and %s have one key", text, other)
		}
		keys[key] = text
	}
}

func TestOriginID(t *testing.T) {
	after := edit.OriginID(7, domarkx.ID{}, "first")
	ids := map[domarkx.ID]string{}
	for _, test := range []struct {
		clock  uint32
		after  domarkx.ID
		origin string
	}{{7, domarkx.ID{}, "first"}, {8, domarkx.ID{}, "first"}, {7, domarkx.ID{}, "second"}, {7, after, "first"}, {7, domarkx.ID{}, ""}} {
		id := edit.OriginID(test.clock, test.after, test.origin)
		what := fmt.Sprintf("%d %s %q", test.clock, test.after, test.origin)
		if other, ok := ids[id]; ok {
			t.Errorf("%s and %s have one id", what, other)
		}
		if ids[id] = what; id != edit.OriginID(test.clock, test.after, test.origin) {
			t.Errorf("%s has two ids", what)
		}
	}
}

func TestCheckDepth(t *testing.T) {
	nested := func(depth int) domarkx.Message {
		metadata := value(t, strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth))
		return domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{}, Metadata: &metadata}
	}
	if err := edit.CheckDepth(0, nested(jsonvalue.MaxDepth/2)); err != nil {
		t.Error(err)
	}
	err := edit.CheckDepth(3, nested(jsonvalue.MaxDepth-1))
	if err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("a message that is nested too deeply: %v", err)
	}
}

func TestStatedAsMetadata(t *testing.T) {
	metadata := value(t, `{"model": "m"}`)
	version := strings.Repeat("a", 40)
	other := jsonvalue.Member{Name: "other", Value: jsonvalue.NumberValue("1")}
	m := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{}, Metadata: &metadata,
		Extra: []jsonvalue.Member{{Name: domarkx.WorkspaceVersion, Value: jsonvalue.StringValue(version)}, other}}
	got := edit.WithStatedAsMetadata(m)
	if len(got.Extra) != 1 || got.Extra[0].Name != other.Name || got.Metadata == nil {
		t.Fatalf("%+v", got)
	}
	if v, _ := got.Metadata.Get("workspace_version"); v.Text() != version {
		t.Errorf("metadata %s", got.Metadata.JSON())
	}
	if v, _ := metadata.Get("workspace_version"); v.Text() != "" {
		t.Error("the message that was given changed")
	}
	plain := edit.WithStatedAsMetadata(domarkx.Message{Role: domarkx.User, Content: []domarkx.Block{}})
	if plain.Metadata != nil {
		t.Errorf("a message without a version got metadata %s", plain.Metadata.JSON())
	}
}
