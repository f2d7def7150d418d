package provider_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/anthropic"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/llamatest"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/openai"
)

var llamaModel = llamatest.Model{Thought: "They ask for the directory. I had better look.", Text: "One moment please.", Tool: "shell__run_command",
	Arguments: `{"command": "ls -l"}`, Answer: "Those are all the files that I found."}

// eachLlama runs a test for the three wires that llama.cpp's server speaks.
func eachLlama(t *testing.T, s *llamatest.Server, test func(t *testing.T, w provider.Wire)) {
	t.Helper()
	key := provider.NewKey(llamatest.Key)
	for name, w := range map[string]provider.Wire{
		"anthropic":   anthropic.New(parse(s.URL), "scripted", key, 20*time.Second),
		"openai":      openai.NewResponses(parse(s.URL), "scripted", key, 20*time.Second),
		"openai-chat": openai.NewChat(openai.Compatible, parse(s.URL), "scripted", key, 20*time.Second),
	} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

func TestLlamaLoop(t *testing.T) {
	s := llamatest.Start(t, llamaModel)
	eachLlama(t, s, func(t *testing.T, w provider.Wire) {
		r := ask("What is here?")
		events := map[string]int{}
		first, err := w.Stream(t.Context(), r, func(e provider.Event) { events[fmt.Sprintf("%T", e)]++ })
		if err != nil {
			t.Fatal(err)
		}
		calls := first.Calls()
		if len(calls) != 1 || calls[0].Name != llamaModel.Tool || calls[0].Arguments == "" || calls[0].ID == "" || first.Stop != provider.StopTools {
			t.Fatalf("calls %+v, stop %q", calls, first.Stop)
		}
		var text, thought string
		for _, p := range first.Parts {
			switch p := p.(type) {
			case provider.Text:
				text += p.Text
			case provider.Thought:
				thought += p.Text
			}
		}
		if strings.TrimSpace(text) != llamaModel.Text || strings.TrimSpace(thought) != llamaModel.Thought {
			t.Errorf("text %q, thought %q", text, thought)
		}
		if events["provider.TextDelta"] < 2 || events["provider.ThoughtDelta"] < 2 || events["provider.Call"] != 1 {
			t.Errorf("the answer was not streamed: %v", events)
		}
		if first.Raw == nil || first.Usage.Output == 0 || first.Usage.Input+first.Usage.CacheRead == 0 || first.Model == "" {
			t.Errorf("raw items %s, usage %+v, model %q", show(first.Raw), first.Usage, first.Model)
		}
		r.Messages = append(r.Messages, stored(first))
		second, err := w.Stream(t.Context(), r, none)
		if err != nil {
			t.Fatal(err)
		}
		if len(second.Parts) != 1 || second.Parts[0] != (provider.Text{Text: llamaModel.Answer}) || second.Stop != provider.StopEnd {
			t.Errorf("parts %q, stop %q", second.Parts, second.Stop)
		}
		r.Messages = append(r.Messages, stored(second), user(provider.Text{Text: "Thanks."}))
		third, err := w.Stream(t.Context(), r, none)
		if err != nil {
			t.Fatal(err)
		}
		if third.Usage.CacheRead == 0 {
			t.Errorf("nothing came from the cache: %+v", third.Usage)
		}
	})
}

func TestLlamaOverflow(t *testing.T) {
	s := llamatest.Start(t, llamaModel, "-c", "512", "-np", "1")
	eachLlama(t, s, func(t *testing.T, w provider.Wire) {
		_, err := w.Stream(t.Context(), ask(strings.Repeat("word ", 1000)), none)
		if !errors.Is(err, provider.ErrContext) {
			t.Errorf("error %v, expected %v", err, provider.ErrContext)
		}
	})
}

func TestLlamaCancel(t *testing.T) {
	s := llamatest.Start(t, llamaModel)
	eachLlama(t, s, func(t *testing.T, w provider.Wire) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		r := provider.Request{Messages: []provider.Message{user(provider.Text{Text: "Talk " + llamatest.Endless})}}
		got, err := w.Stream(ctx, r, func(provider.Event) {
			if n++; n == 10 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || len(got.Parts) == 0 || got.Raw != nil {
			t.Errorf("error %v, parts %q", err, got.Parts)
		}
	})
	s.AwaitLog(t, "cancel task")
}

func TestLlamaKilled(t *testing.T) {
	for _, name := range []string{"anthropic", "openai", "openai-chat"} {
		t.Run(name, func(t *testing.T) {
			s := llamatest.Start(t, llamaModel)
			open := map[string]func(*url.URL, string, provider.Key, time.Duration) provider.Wire{
				"anthropic": func(u *url.URL, m string, k provider.Key, d time.Duration) provider.Wire {
					return anthropic.New(u, m, k, d)
				},
				"openai": func(u *url.URL, m string, k provider.Key, d time.Duration) provider.Wire {
					return openai.NewResponses(u, m, k, d)
				},
				"openai-chat": func(u *url.URL, m string, k provider.Key, d time.Duration) provider.Wire {
					return openai.NewChat(openai.Compatible, u, m, k, d)
				},
			}
			w := open[name](parse(s.URL), "scripted", provider.NewKey(llamatest.Key), 20*time.Second)
			n := 0
			r := provider.Request{Messages: []provider.Message{user(provider.Text{Text: "Talk " + llamatest.Endless})}}
			got, err := w.Stream(t.Context(), r, func(provider.Event) {
				if n++; n == 10 {
					s.Kill()
				}
			})
			if !errors.Is(err, provider.ErrCut) || len(got.Parts) == 0 || got.Raw != nil {
				t.Errorf("error %v, parts %q", err, got.Parts)
			}
			if _, err := w.Stream(t.Context(), r, none); !errors.Is(err, provider.ErrConnection) {
				t.Errorf("error %v, expected %v", err, provider.ErrConnection)
			}
		})
	}
}

func TestLlamaKey(t *testing.T) {
	s := llamatest.Start(t, llamaModel)
	key := provider.NewKey("wrong")
	for _, w := range []provider.Wire{anthropic.New(parse(s.URL), "m", key, time.Minute), openai.NewResponses(parse(s.URL), "m", key, time.Minute), openai.NewChat(openai.Compatible, parse(s.URL), "m", key, time.Minute)} {
		if _, err := w.Stream(t.Context(), ask("Well?"), none); !errors.Is(err, provider.ErrKey) {
			t.Errorf("%s: error %v, expected %v", w.Origin().Provider, err, provider.ErrKey)
		}
	}
}
