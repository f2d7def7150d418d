package chat_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// TestLive takes a turn with a tool with each model that DOMARKX_TEST_LIVE names, such as
// "anthropic/MODEL openai/MODEL", for people who have keys. It costs a few hundred tokens each.
func TestLive(t *testing.T) {
	names := strings.Fields(os.Getenv("DOMARKX_TEST_LIVE"))
	if len(names) == 0 {
		t.Skip("NOT TESTED against real providers: DOMARKX_TEST_LIVE names no models; run: make test-live MODELS=\"anthropic/MODEL …\"")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			d, err := models.Find(settings{"domarkx.model." + name + ".reasoning": "low"}, name)
			if err != nil {
				t.Fatal(err)
			}
			keys := models.Keys{Getenv: os.Getenv, Credential: func(context.Context, string, bool) (string, error) { return "", nil }}
			key, _, err := keys.Find(t.Context(), d, false)
			if err != nil || key.IsZero() {
				t.Fatalf("no key in %s: %v", d.KeyEnv, err)
			}
			live(t, provider.Client{Wire: models.Open(d, key)}, d)
		})
	}
}

func live(t *testing.T, c provider.Client, d models.Definition) {
	t.Helper()
	text := func(s string) provider.Message {
		return provider.Message{Role: provider.User, Parts: []provider.Part{provider.Text{Text: s}}}
	}
	notice := func(e provider.Event) {
		if n, ok := e.(provider.Notice); ok {
			t.Errorf("notice: %s", n)
		}
	}
	r := provider.Request{System: []string{"Use the tool before you answer."}, Reasoning: d.Reasoning, Messages: []provider.Message{text("What is the weather in Oslo? Answer in five words.")},
		Tools: []provider.Tool{{Name: "weather__now", Description: "Returns the weather of a city.", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}}}
	for answers := 1; ; answers++ {
		a, err := c.Stream(t.Context(), r, notice)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v %+v %s", a.Model, a.Parts, a.Usage, a.Reported)
		if a.Raw == nil || a.Usage.Output == 0 || a.Model == "" {
			t.Errorf("answer %+v", a)
		}
		m := provider.Message{Role: provider.Assistant, Parts: a.Parts, Raw: a.Raw}
		for _, call := range a.Calls() {
			m.Parts = append(m.Parts, provider.Result{CallID: call.ID, Text: `{"weather": "snow", "celsius": -3}`})
		}
		r.Messages = append(r.Messages, m)
		if len(a.Calls()) == 0 {
			if answers == 1 {
				t.Error("the tool was not called")
			}
			break
		}
		if answers == 5 {
			t.Fatal("the model does not stop calling the tool")
		}
	}
	// The same conversation without the provider's own items, as after an edit.
	r.Plain = true
	r.Messages = append(r.Messages, text("And is that cold?"))
	if _, err := c.Stream(t.Context(), r, notice); err != nil {
		t.Error(err)
	}
}
