package provider_test

import (
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/anthropic"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// TestThinkingForms asks models of each age to reason: each is asked in the form that it accepts,
// which is found out once.
func TestThinkingForms(t *testing.T) {
	for _, test := range []struct {
		model     string
		reasoning provider.Reasoning
		max       int
		refused   int    // requests
		sent      string // in the accepted one
		not       string
	}{
		{"adaptive-1", provider.ReasoningHigh, 0, 0, `"effort":"high"`, "budget_tokens"},
		{"budget-1", provider.ReasoningLow, 0, 1, `"budget_tokens":2048`, "effort"},
		{"budget-1", provider.ReasoningHigh, 4000, 1, `"budget_tokens":2000`, "effort"},
		{"budget-1", provider.ReasoningHigh, 1500, 1, `"max_tokens":1500`, `"thinking":`},
		{"plain-1", provider.ReasoningMedium, 0, 2, `"max_tokens":16384`, `"thinking":`},
		{"adaptive-1", provider.ReasoningOff, 0, 2, `"max_tokens":16384`, `"thinking":`},
		{"budget-1", provider.ReasoningOff, 0, 0, `"type":"disabled"`, "effort"},
		{"plain-1", "", 0, 0, `"max_tokens":16384`, `"thinking":`},
	} {
		t.Run(test.model+" "+string(test.reasoning), func(t *testing.T) {
			s := providertest.New(t, providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
			w := anthropic.New(parse(s.Base()), test.model, provider.NewKey(providertest.Key), 10*time.Second)
			r := ask("Think.")
			r.Reasoning, r.MaxTokens = test.reasoning, test.max
			for _, want := range []string{"One.", "Two."} {
				got, err := w.Stream(t.Context(), r, none)
				if err != nil || len(got.Parts) != 1 || got.Parts[0] != (provider.Text{Text: want}) {
					t.Fatalf("answer %q, %v", got.Parts, err)
				}
			}
			if got := s.Refused(); len(got) != test.refused {
				t.Errorf("refused: %q, expected %d", got, test.refused)
			}
			requests := s.Requests()
			last := string(requests[len(requests)-1].Body)
			if !strings.Contains(last, test.sent) || strings.Contains(last, test.not) {
				t.Errorf("expected %s and no %s in %s", test.sent, test.not, last)
			}
		})
	}
}

// TestThinkingInLoop continues an answer of another model, whose reasoning cannot be sent back, with
// a model that needs a budget: this step goes without reasoning, the next one with it.
func TestThinkingInLoop(t *testing.T) {
	s := providertest.New(t, providertest.Reply{Text: "Seen."}, providertest.Reply{Text: "More."})
	w := anthropic.New(parse(s.Base()), "budget-1", provider.NewKey(providertest.Key), 10*time.Second)
	r := ask("Look.", provider.Message{Role: provider.Assistant, Parts: []provider.Part{
		provider.Thought{Text: "Hm."}, provider.Call{ID: "a", Name: "look", Arguments: "{}"}, provider.Result{CallID: "a", Text: "x"}}})
	r.Reasoning = provider.ReasoningMedium
	for _, thinks := range []bool{false, true} {
		a, err := w.Stream(t.Context(), r, none)
		if err != nil {
			t.Fatal(err)
		}
		requests := s.Requests()
		if got := strings.Contains(string(requests[len(requests)-1].Body), "budget_tokens"); got != thinks {
			t.Errorf("with a budget: %v, expected %v", got, thinks)
		}
		r.Messages = append(r.Messages, stored(a), user(provider.Text{Text: "And?"}))
	}
	if got := s.Refused(); len(got) != 1 {
		t.Errorf("refused: %q", got)
	}
}

// TestPartsOfItems reads the items of answers of all wires: they equal the stream. Items that
// say something else to the provider than to whoever reads them are refused.
func TestPartsOfItems(t *testing.T) {
	script := []providertest.Reply{
		{Thought: "Hm. é", Text: "Let me look. é", Calls: []providertest.Call{{Name: "look", Arguments: `{"a": [1.0, "é"]}`}, {Name: "look", Arguments: `{}`}}},
		{Text: "No.", Refusal: true},
		{Calls: []providertest.Call{{Name: "look", Arguments: `no JSON`}}},
	}
	each(t, script, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		for range script {
			a, err := w.Stream(t.Context(), ask("Look."), none)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := w.Parts(a.Raw.Items)
			if err != nil || len(parts) != len(a.Parts) {
				t.Fatalf("parts %q, %v; streamed %q", parts, err, a.Parts)
			}
			for i := range parts {
				if parts[i] != a.Parts[i] {
					t.Errorf("part %q, streamed %q", parts[i], a.Parts[i])
				}
			}
		}
	})
}

func TestHostileItems(t *testing.T) {
	forged := map[string][]string{
		"anthropic": {`{"type":"text","text":"x","TEXT":"y"}`, `{"type":"text","text":"x","text":"y"}`, `{"type":"document","text":"x"}`, `{"type":"text","text":[1]}`, `[]`, `x`,
			`{"type":"thinking","thinking":"x","thin\u212aing":"y"}`},
		"openai": {`{"type":"message","role":"user","content":[{"type":"output_text","text":"x"}]}`, `{"type":"message","role":"system","content":[]}`,
			`{"type":"message","role":"assistant","content":[{"type":"input_text","text":"x"}]}`, `{"type":"message","role":"assistant","content":"x"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x","text":"y"}]}`, `{"type":"computer_call"}`, `{}`,
			`{"type":"reasoning","summary":[{"type":"summary_text","text":"x"}],"\u017fummary":[]}`},
		"openai-chat": {`{"role":"system","content":"x"}`, `{"role":"user","content":"x"}`, `{"content":"x"}`, `{"role":"assistant","content":[{"type":"text","text":"x"}]}`,
			`{"role":"assistant","content":"x","Content":"y"}`, `{"role":"assistant","function_call":{"name":"a"}}`, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"a","name":"b"}}]}`,
			`{"role":"assistant","tool_calls":{}}`, `{"role":"assistant","tool_calls":[{"id":"a"}]}`, `{"role":"assistant","refusal":"x","refu\u017fal":"y"}`},
	}
	forged["gemini"] = forged["openai-chat"]
	each(t, nil, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		items := forged[w.Origin().Provider]
		if len(items) == 0 {
			t.Fatal("no items")
		}
		for _, item := range items {
			if parts, err := w.Parts([][]byte{[]byte(item)}); err == nil {
				t.Errorf("%s is %q", item, parts)
			}
		}
	})
}
