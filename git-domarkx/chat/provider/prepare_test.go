package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

var testRules = provider.Rules{
	Origin:  provider.Origin{Provider: "p", Host: "h", Model: "m"},
	ValidID: func(id string) bool { return !strings.ContainsAny(id, " :") && len(id) < 30 },
	CallIDs: func(items [][]byte) ([]string, bool) { return strings.Fields(string(items[0])), true },
}

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.User, Parts: parts}
}

func assistant(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.Assistant, Parts: parts}
}

func TestPrepare(t *testing.T) {
	text := func(s string) provider.Part { return provider.Text{Text: s} }
	call := func(id string) provider.Part { return provider.Call{ID: id, Name: "t", Arguments: "{}"} }
	result := func(id, s string) provider.Part { return provider.Result{CallID: id, Text: s} }
	missing := func(id string) provider.Part {
		return provider.Result{CallID: id, Text: "There is no result: the call was not made, or it was interrupted.", Failed: true}
	}
	raw := func(o provider.Origin, ids string) *provider.Raw {
		return &provider.Raw{Origin: o, Items: [][]byte{[]byte(ids)}}
	}
	withRaw := func(m provider.Message, r *provider.Raw) provider.Message { m.Raw = r; return m }
	own := testRules.Origin
	tests := []struct {
		name string
		in   []provider.Message
		want []provider.Message
	}{
		{"results follow their calls", []provider.Message{user(text("q")), assistant(text("a"), call("1"), result("1", "r1"), call("2"), result("2", "r2"), text("b"))},
			[]provider.Message{user(text("q")), assistant(text("a"), call("1"), call("2"), text("b")), user(result("1", "r1"), result("2", "r2"))}},
		{"a call without result", []provider.Message{user(text("q")), assistant(call("1")), user(text("more"))},
			[]provider.Message{user(text("q")), assistant(call("1")), user(missing("1"), text("more"))}},
		{"a result elsewhere", []provider.Message{user(text("q")), assistant(call("1")), user(text("more"), result("1", "late"))},
			[]provider.Message{user(text("q")), assistant(call("1")), user(result("1", "late"), text("more"))}},
		{"a result without call", []provider.Message{user(text("q"), result("9", "lost"))},
			[]provider.Message{user(text("q"), text("The result of a call that is no longer in the conversation:\nlost"))}},
		{"thoughts and blank text", []provider.Message{user(text("q")), assistant(provider.Thought{Text: "hm"}, text(" \n"), text("a")), user(text("more"))},
			[]provider.Message{user(text("q")), assistant(text("a")), user(text("more"))}},
		{"ends and begins", []provider.Message{assistant(text("a"))},
			[]provider.Message{user(text("(The conversation begins with the assistant's message.)")), assistant(text("a")), user(text("Please go on."))}},
		{"nothing", nil, []provider.Message{user(text("Please go on."))}},
		{"equal ids", []provider.Message{user(text("q")), assistant(call("1"), result("1", "a"), call("1"), result("1", "b"))},
			[]provider.Message{user(text("q")), assistant(call("1"), call("call_5cc3a6551605a0b4e9c3334f")), user(result("1", "a"), result("call_5cc3a6551605a0b4e9c3334f", "b"))}},
		{"own raw items", []provider.Message{user(text("q")), withRaw(assistant(call("k"), result("k", "r")), raw(own, "id1"))},
			[]provider.Message{user(text("q")), withRaw(assistant(call("id1")), raw(own, "id1")), user(result("id1", "r"))}},
		{"raw items of another model", []provider.Message{user(text("q")), withRaw(assistant(call("k"), result("k", "r")), raw(provider.Origin{Provider: "p", Host: "h", Model: "m2"}, "id1"))},
			[]provider.Message{user(text("q")), assistant(call("k")), user(result("k", "r"))}},
		{"raw items with other calls", []provider.Message{user(text("q")), withRaw(assistant(call("k"), result("k", "r")), raw(own, "id1 id2"))},
			[]provider.Message{user(text("q")), assistant(call("k")), user(result("k", "r"))}},
		{"raw items that are no UTF-8", []provider.Message{user(text("q")), withRaw(assistant(call("k"), result("k", "r")), raw(own, "id1\xff"))},
			[]provider.Message{user(text("q")), assistant(call("k")), user(result("k", "r"))}},
		{"invalid arguments and name", []provider.Message{user(text("q")), assistant(provider.Call{ID: "1", Name: "a b", Arguments: `{"x`})},
			[]provider.Message{user(text("q")), assistant(provider.Call{ID: "1", Name: "a_b", Arguments: `{"invalid_arguments":"{\"x"}`}), user(missing("1"))}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := provider.Prepare(provider.Request{Messages: test.in}, testRules)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlainRequestHasNoRawItems(t *testing.T) {
	m := assistant(provider.Text{Text: "a"})
	m.Raw = &provider.Raw{Origin: testRules.Origin, Items: [][]byte{{}}}
	r := provider.Request{Messages: []provider.Message{m}, Plain: true}
	for _, got := range provider.Prepare(r, testRules) {
		if got.Raw != nil {
			t.Errorf("raw items in %v", got)
		}
	}
	if provider.SentRaw(r, testRules.Origin) {
		t.Error("the request claims to have raw items")
	}
}

// TestEveryConversationIsAccepted checks that what people make of a session by hand, in any order
// and with anything missing, is a valid request for every provider.
func TestEveryConversationIsAccepted(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			s := providertest.New(t)
			w := wire.open(s, "the-model", provider.NewKey(providertest.Key), time.Minute)
			s.Add(loop...)
			var known []provider.Message // with raw items of this provider
			for range 2 {
				a, err := w.Stream(t.Context(), ask("What is here?", known...), none)
				if err != nil {
					t.Fatal(err)
				}
				known = append(known, stored(a))
			}
			rapid.Check(t, func(t *rapid.T) {
				r := provider.Request{Tools: tools, Messages: rapid.SliceOfN(messages(known), 0, 8).Draw(t, "messages")}
				s.Add(providertest.Reply{Text: "Fine."})
				if _, err := w.Stream(t.Context(), r, none); err != nil {
					t.Fatalf("%v\n%s", err, s.Requests()[len(s.Requests())-1].Body)
				}
			})
		})
	}
}

// messages generates messages with any parts, or known ones with parts missing.
func messages(known []provider.Message) *rapid.Generator[provider.Message] {
	id := rapid.SampledFrom([]string{"", "1", "2", "toolu_1_0", "call_1_0", "has space", strings.Repeat("long", 40)})
	text := rapid.SampledFrom([]string{"", " ", "text", "\xff", "{}"})
	part := rapid.Custom(func(t *rapid.T) provider.Part {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return provider.Call{ID: id.Draw(t, "id"), Name: rapid.SampledFrom([]string{"shell__run_command", "", "a b"}).Draw(t, "name"),
				Arguments: rapid.SampledFrom([]string{"{}", "", `{"a`, "[]", `{"command":"ls"}`}).Draw(t, "arguments")}
		case 1:
			return provider.Result{CallID: id.Draw(t, "id"), Text: text.Draw(t, "text"), Failed: rapid.Bool().Draw(t, "failed")}
		case 2:
			return provider.Thought{Text: text.Draw(t, "text")}
		case 3:
			return provider.Image{MediaType: "image/png", Data: []byte("png")}
		}
		return provider.Text{Text: text.Draw(t, "text")}
	})
	return rapid.Custom(func(t *rapid.T) provider.Message {
		if rapid.Bool().Draw(t, "known") {
			m := rapid.SampledFrom(known).Draw(t, "message")
			if n := len(m.Parts); n > 0 && rapid.Bool().Draw(t, "shorter") {
				m.Parts = m.Parts[:rapid.IntRange(0, n).Draw(t, "length")]
			}
			return m
		}
		return provider.Message{Role: rapid.SampledFrom([]provider.Role{provider.User, provider.Assistant}).Draw(t, "role"),
			Parts: rapid.SliceOfN(part, 0, 5).Draw(t, "parts")}
	})
}
