package provider_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/anthropic"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/openai"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// wires are the four wires, each to a server and with a model's name.
var wires = []struct {
	name string
	open func(s *providertest.Server, model string, key provider.Key, timeout time.Duration) provider.Wire
}{
	{"anthropic", func(s *providertest.Server, model string, key provider.Key, timeout time.Duration) provider.Wire {
		return anthropic.New(parse(s.Base()), model, key, timeout)
	}},
	{"openai", func(s *providertest.Server, model string, key provider.Key, timeout time.Duration) provider.Wire {
		return openai.NewResponses(parse(s.Base()), model, key, timeout)
	}},
	{"openai-chat", func(s *providertest.Server, model string, key provider.Key, timeout time.Duration) provider.Wire {
		return openai.NewChat(openai.Compatible, parse(s.Base()), model, key, timeout)
	}},
	{"gemini", func(s *providertest.Server, model string, key provider.Key, timeout time.Duration) provider.Wire {
		return openai.NewChat(openai.Gemini, parse(s.Gemini()), model, key, timeout)
	}},
}

func parse(text string) *url.URL {
	u, err := provider.CheckURL(text)
	if err != nil {
		panic(err)
	}
	return u
}

// each runs a test for every wire with a server that gives these replies.
func each(t *testing.T, script []providertest.Reply, test func(t *testing.T, s *providertest.Server, w provider.Wire)) {
	t.Helper()
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			s := providertest.New(t, script...)
			test(t, s, wire.open(s, "the-model", provider.NewKey(providertest.Key), 30*time.Second))
		})
	}
}

func none(provider.Event) {}

var tools = []provider.Tool{{Name: "shell__run_command", Description: "Runs a command.",
	Schema: []byte(`{"type":"object","properties":{"command":{"type":"string","maxLength":1000}},"required":["command"]}`)}}

func ask(text string, more ...provider.Message) provider.Request {
	messages := append([]provider.Message{{Role: provider.User, Parts: []provider.Part{provider.Text{Text: text}}}}, more...)
	return provider.Request{System: []string{"Be brief."}, Messages: messages, Tools: tools}
}

// stored returns the message that an answer is stored as, with a result for each call.
func stored(a provider.Answer) provider.Message {
	m := provider.Message{Role: provider.Assistant, Raw: a.Raw}
	for _, p := range a.Parts {
		m.Parts = append(m.Parts, p)
		if c, ok := p.(provider.Call); ok {
			m.Parts = append(m.Parts, provider.Result{CallID: c.ID, Text: `{"ok": true}`})
		}
	}
	return m
}

var loop = []providertest.Reply{
	{Thought: "They want <files> & more: é 😀.", Text: "Let me look. 😀/é", Calls: []providertest.Call{
		{Name: "shell__run_command", Arguments: `{"command": "ls -l /é😀", "n": 1.0}`}, {Name: "shell__run_command", Arguments: `{"command":"pwd"}`}},
		Usage: providertest.Usage{Input: 100, CacheRead: 40, Output: 20, Reasoning: 8}, Stream: providertest.Stream{Unknown: true}},
	{Text: "Two files.", Usage: providertest.Usage{Input: 3, Output: 2}},
	{Text: "Again."},
}

func TestRawItemsGoBackByteForByte(t *testing.T) {
	each(t, loop, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		r := ask("What is here?")
		first, err := w.Stream(t.Context(), r, none)
		if err != nil {
			t.Fatal(err)
		}
		want := s.Items()
		if first.Raw == nil || !cmp.Equal(first.Raw.Items, want) {
			t.Fatalf("raw items\n%s\nexpected\n%s", show(first.Raw), bytes.Join(want, []byte("\n")))
		}
		if first.Raw.Origin != w.Origin() {
			t.Errorf("origin %v, expected %v", first.Raw.Origin, w.Origin())
		}
		r.Messages = append(r.Messages, stored(first))
		second, err := w.Stream(t.Context(), r, none)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, stored(second), provider.Message{Role: provider.User, Parts: []provider.Part{provider.Text{Text: "And now?"}}})
		if _, err := w.Stream(t.Context(), r, none); err != nil {
			t.Fatal(err)
		}
		for i, request := range s.Requests()[1:] {
			for _, item := range want {
				if !bytes.Contains(request.Body, item) {
					t.Errorf("request %d lacks the item %s:\n%s", i+1, item, request.Body)
				}
			}
		}
	})
}

func show(r *provider.Raw) []byte {
	if r == nil {
		return []byte("none")
	}
	return bytes.Join(r.Items, []byte("\n"))
}

func TestAnswer(t *testing.T) {
	each(t, loop, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		var text, thought strings.Builder
		calls := 0
		got, err := w.Stream(t.Context(), ask("What is here?"), func(e provider.Event) {
			switch e := e.(type) {
			case provider.TextDelta:
				text.WriteString(string(e))
			case provider.ThoughtDelta:
				thought.WriteString(string(e))
			case provider.Call:
				calls++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []provider.Part{provider.Thought{Text: loop[0].Thought}, provider.Text{Text: loop[0].Text}}
		if w.Origin().Provider == "gemini" { // which shows no thoughts on this endpoint
			want = want[1:]
		}
		if diff := cmp.Diff(want, got.Parts[:len(want)]); diff != "" {
			t.Errorf("parts: %s", diff)
		}
		answered := got.Calls()
		if len(answered) != 2 || answered[0].Arguments != loop[0].Calls[0].Arguments || answered[1].Arguments != loop[0].Calls[1].Arguments || answered[0].Name != "shell__run_command" {
			t.Errorf("calls %q", answered)
		}
		if calls != 2 || len(text.String()) < 12 {
			t.Errorf("events: %d calls, text %q, thought %q", calls, text.String(), thought.String())
		}
		if want := (provider.Usage{Input: 100, CacheRead: 40, Output: 20, Reasoning: 8}); got.Usage != want {
			t.Errorf("usage %+v, expected %+v", got.Usage, want)
		}
		if got.Stop != provider.StopTools || got.Model != "the-model" {
			t.Errorf("stop %q (%q), model %q", got.Stop, got.Reported, got.Model)
		}
	})
}

func TestStops(t *testing.T) {
	tests := []struct {
		reply providertest.Reply
		want  provider.Stop
	}{
		{providertest.Reply{Text: "Done."}, provider.StopEnd},
		{providertest.Reply{}, provider.StopEnd},
		{providertest.Reply{Text: "Once upon", Cut: true}, provider.StopMaxTokens},
		{providertest.Reply{Text: "I can't help with that.", Refusal: true}, provider.StopRefusal},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i, test.want), func(t *testing.T) {
			each(t, []providertest.Reply{test.reply}, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
				got, err := w.Stream(t.Context(), ask("Well?"), none)
				if err != nil || got.Stop != test.want {
					t.Errorf("stop %q, error %v; expected %q", got.Stop, err, test.want)
				}
				if text := (provider.Text{Text: test.reply.Text}); text.Text != "" && !cmp.Equal(got.Parts, []provider.Part{text}) {
					t.Errorf("parts %v", got.Parts)
				}
			})
		})
	}
}

func TestOtherProvidersGetNoRawItems(t *testing.T) {
	for _, from := range wires {
		for _, to := range wires {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				s := providertest.New(t, loop...)
				first, err := from.open(s, "a", provider.NewKey(providertest.Key), time.Minute).Stream(t.Context(), ask("What is here?"), none)
				if err != nil {
					t.Fatal(err)
				}
				items := s.Items()
				w := to.open(s, "b", provider.NewKey(providertest.Key), time.Minute)
				if _, err := w.Stream(t.Context(), ask("What is here?", stored(first)), none); err != nil {
					t.Fatal(err)
				}
				for _, item := range items {
					if bytes.Contains(s.Requests()[1].Body, item) {
						t.Errorf("another model got the item %s", item)
					}
				}
			})
		}
	}
}

func TestFailures(t *testing.T) {
	long := providertest.Reply{Text: strings.Repeat("Words. ", 20), Calls: []providertest.Call{{Name: "x", Arguments: `{"a": "bbbbbbbbbbbbbbbbbbbb"}`}}}
	broken := func(b providertest.Break, after int) providertest.Reply {
		r := long
		r.Break, r.After = b, after
		return r
	}
	tests := []struct {
		name  string
		reply providertest.Reply
		want  error
	}{
		{"cut at the start", broken(providertest.Cut, 0), provider.ErrCut},
		{"cut in the text", broken(providertest.Cut, 12), provider.ErrCut},
		{"ended in the text", broken(providertest.EndOfBody, 12), provider.ErrCut},
		{"stalled", broken(providertest.Stall, 12), provider.ErrStalled},
		{"invalid JSON", broken(providertest.Invalid, 12), provider.ErrAnswer},
		{"500", providertest.Reply{Status: 500}, provider.ErrServer},
		{"529", providertest.Reply{Status: 529}, provider.ErrBusy},
		{"429", providertest.Reply{Status: 429}, provider.ErrBusy},
		{"502 of a proxy", providertest.Reply{Status: 502, Body: "<html>Bad Gateway</html>"}, provider.ErrServer},
		{"context of OpenAI", providertest.Reply{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8 tokens.","code":"context_length_exceeded"}}`}, provider.ErrContext},
		{"context of Anthropic", providertest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`}, provider.ErrContext},
		{"context of llama.cpp", providertest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"request exceeds","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":8}}`}, provider.ErrContext},
		{"context of Gemini", providertest.Reply{Status: 400, Body: `[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}]`}, provider.ErrContext},
		{"signature", providertest.Reply{Status: 400, Body: `{"error":{"message":"Corrupted thought signature."}}`}, provider.ErrForeign},
		{"quota", providertest.Reply{Status: 429, Body: `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}`}, provider.ErrRequest},
		{"redirect", providertest.Reply{Redirect: "http://127.0.0.1:1/v1/messages"}, provider.ErrRedirect},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			each(t, []providertest.Reply{test.reply}, func(t *testing.T, s *providertest.Server, w provider.Wire) {
				if test.want == provider.ErrStalled {
					for _, wire := range wires {
						if wire.name == w.Origin().Provider {
							w = wire.open(s, "the-model", provider.NewKey(providertest.Key), 100*time.Millisecond)
						}
					}
				}
				got, err := w.Stream(t.Context(), ask("Well?"), none)
				if !errors.Is(err, test.want) {
					t.Errorf("error %v, expected %v", err, test.want)
				}
				if got.Raw != nil || len(got.Calls()) > 0 {
					t.Errorf("an incomplete answer has the raw items %s and the calls %v", show(got.Raw), got.Calls())
				}
				if test.reply.After > 0 && test.want != provider.ErrAnswer && len(got.Parts) == 0 {
					t.Error("the text that came is lost")
				}
				var e *provider.Error
				if !errors.As(err, &e) || e.Status != test.reply.Status {
					t.Errorf("error %#v, expected the status %d", err, test.reply.Status)
				}
			})
		})
	}
}

func TestOverloadInStream(t *testing.T) {
	each(t, []providertest.Reply{{Text: "Hello there.", Stream: providertest.Stream{Break: providertest.Overloaded, After: 1}}}, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
		_, err := w.Stream(t.Context(), ask("Well?"), none)
		if !errors.Is(err, provider.ErrBusy) && !errors.Is(err, provider.ErrServer) {
			t.Errorf("error %v, expected that the provider is busy", err)
		}
	})
}

func TestKeyIsNotShown(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			s := providertest.New(t)
			key := provider.NewKey("wrong-key-4711")
			_, err := wire.open(s, "m", key, time.Minute).Stream(t.Context(), ask("Well?"), none)
			if !errors.Is(err, provider.ErrKey) || !strings.Contains(err.Error(), "[key]") {
				t.Errorf("error %v, expected one about the key", err)
			}
			if text := fmt.Sprintf("%v %+v %#v %s %q %x", key, key, key, key, key, err); strings.Contains(text, "4711") {
				t.Errorf("the key is shown: %s", text)
			}
		})
	}
}

func TestKeyStaysWithItsHost(t *testing.T) {
	for _, wire := range wires {
		t.Run(wire.name, func(t *testing.T) {
			other := providertest.New(t)
			s := providertest.New(t, providertest.Reply{Redirect: other.URL + "/v1/messages"})
			if _, err := wire.open(s, "m", provider.NewKey(providertest.Key), time.Minute).Stream(t.Context(), ask("Well?"), none); !errors.Is(err, provider.ErrRedirect) {
				t.Errorf("error %v, expected %v", err, provider.ErrRedirect)
			}
			if got := other.Requests(); len(got) > 0 {
				t.Errorf("the redirect was followed: %v", got)
			}
		})
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	other := providertest.New(t)
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": other.URL, "ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-key", "ANTHROPIC_CUSTOM_HEADERS": "X-Leak: env-key",
		"OPENAI_BASE_URL": other.Base(), "OPENAI_API_KEY": "env-key", "OPENAI_ORG_ID": "env-key", "OPENAI_PROJECT_ID": "env-key", "OPENAI_CUSTOM_HEADERS": "X-Leak: env-key",
		"ANTHROPIC_PROFILE": "env-key", "HTTP_PROXY": other.URL,
	} {
		t.Setenv(name, value)
	}
	each(t, []providertest.Reply{{Text: "Fine."}}, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		if _, err := w.Stream(t.Context(), ask("Well?"), none); err != nil {
			t.Fatal(err)
		}
		header := s.Requests()[0].Header
		for name, values := range header {
			if strings.Contains(strings.Join(values, " "), "env-key") || strings.HasPrefix(name, "X-Stainless") {
				t.Errorf("the request has the header %s: %v", name, values)
			}
		}
	})
	if got := other.Requests(); len(got) > 0 {
		t.Errorf("the environment's URL was used: %v", got)
	}
}

func TestLargeAnswer(t *testing.T) {
	text := strings.Repeat("All work and no play. ", (2<<20)/22)
	each(t, []providertest.Reply{{Text: text}}, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
		got, err := w.Stream(t.Context(), ask("Well?"), none)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Parts) != 1 || got.Parts[0] != (provider.Text{Text: text}) {
			t.Errorf("%d parts, expected the whole text", len(got.Parts))
		}
	})
}

// TestTooLargeAnswer asks one wire, because all collect their answers with the same code.
func TestTooLargeAnswer(t *testing.T) {
	text := strings.Repeat("All work and no play. ", (provider.MaxAnswer+1<<20)/22)
	w := wires[0].open(providertest.New(t, providertest.Reply{Text: text}), "the-model", provider.NewKey(providertest.Key), 30*time.Second)
	got, err := w.Stream(t.Context(), ask("Well?"), none)
	if !errors.Is(err, provider.ErrTooLarge) || got.Raw != nil {
		t.Errorf("error %v, expected %v", err, provider.ErrTooLarge)
	}
}

func TestCancel(t *testing.T) {
	each(t, []providertest.Reply{{Text: "One two three four five.", Stream: providertest.Stream{Break: providertest.Stall, After: 6}}}, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		got, err := w.Stream(ctx, ask("Well?"), func(provider.Event) { cancel(stop) })
		if !errors.Is(err, stop) || len(got.Parts) == 0 {
			t.Errorf("error %v and %d parts, expected the text so far", err, len(got.Parts))
		}
	})
}

func TestInvalidArgumentsGoBackAsObject(t *testing.T) {
	script := []providertest.Reply{{Calls: []providertest.Call{{Name: "shell__run_command", Arguments: `{"command": "ls`}}}, {Text: "Sorry."}}
	each(t, script, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
		first, err := w.Stream(t.Context(), ask("Well?"), none)
		if err != nil {
			t.Fatal(err)
		}
		if calls := first.Calls(); len(calls) != 1 || calls[0].Arguments != `{"command": "ls` {
			t.Errorf("calls %v, expected the arguments as they came", calls)
		}
		if _, err := w.Stream(t.Context(), ask("Well?", stored(first)), none); err != nil {
			t.Error(err)
		}
	})
}

func TestHTTPIsForThisMachine(t *testing.T) {
	for _, test := range []struct {
		url string
		ok  bool
	}{
		{"https://api.example.com/v1", true}, {"http://127.0.0.1:8080/v1", true}, {"http://localhost/v1", true}, {"http://[::1]:1/v1", true},
		{"http://example.com/v1", false}, {"http://10.0.0.1/v1", false}, {"ftp://example.com", false}, {"https://key@example.com/v1", false},
		{"https://example.com/v1?key=1", false}, {"example.com/v1", false}, {"http://127.0.0.1.example.com/v1", false},
	} {
		if _, err := provider.CheckURL(test.url); (err == nil) != test.ok {
			t.Errorf("%s: error %v", test.url, err)
		}
	}
}

func TestClientRepeats(t *testing.T) {
	wait := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	tests := []struct {
		name   string
		script []providertest.Reply
		waits  []time.Duration // 0 for any
		want   error
	}{
		{"busy with a time", []providertest.Reply{{Status: 429, Header: wait("7")}, {Text: "Yes."}}, []time.Duration{7 * time.Second}, nil},
		{"busy without a time", []providertest.Reply{{Status: 429}, {Status: 529}, {Status: 500}, {Text: "Yes."}}, []time.Duration{0, 0, 0}, nil},
		{"busy for long", []providertest.Reply{{Status: 429, Header: wait("3600")}}, nil, provider.ErrBusy},
		{"busy for ever", []providertest.Reply{{Status: 503}, {Status: 503}, {Status: 503}, {Status: 503}, {Status: 503}}, []time.Duration{0, 0, 0, 0}, provider.ErrBusy},
		{"cut before anything came", []providertest.Reply{{Text: "No.", Stream: providertest.Stream{Break: providertest.Cut}}, {Text: "Yes."}}, []time.Duration{0}, nil},
		{"cut after something came", []providertest.Reply{{Text: "No no no no no.", Stream: providertest.Stream{Break: providertest.Cut, After: 6}}}, nil, provider.ErrCut},
		{"not valid", []providertest.Reply{{Status: 400}}, nil, provider.ErrRequest},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			each(t, test.script, func(t *testing.T, s *providertest.Server, w provider.Wire) {
				var waits []time.Duration
				c := provider.Client{Wire: w, Sleep: func(_ context.Context, d time.Duration) error {
					waits = append(waits, d)
					return nil
				}}
				_, err := c.Stream(t.Context(), ask("Well?"), none)
				if !errors.Is(err, test.want) || test.want == nil && err != nil {
					t.Errorf("error %v, expected %v", err, test.want)
				}
				if len(waits) != len(test.waits) || len(s.Requests()) != len(test.script) {
					t.Fatalf("waited %v for %d requests", waits, len(s.Requests()))
				}
				for i, want := range test.waits {
					if want != 0 && waits[i] != want {
						t.Errorf("waited %v, expected %v", waits[i], want)
					}
				}
			})
		})
	}
}

func TestClientGoesOnWithoutRawItems(t *testing.T) {
	each(t, []providertest.Reply{loop[0], {Text: "Fine."}}, func(t *testing.T, _ *providertest.Server, w provider.Wire) {
		first, err := w.Stream(t.Context(), ask("What is here?"), none)
		if err != nil {
			t.Fatal(err)
		}
		// Another account of the same provider has other signatures.
		s := providertest.New(t, providertest.Reply{Text: "Fine."})
		var other provider.Wire
		for _, wire := range wires {
			if wire.name == w.Origin().Provider {
				other = wire.open(s, "the-model", provider.NewKey(providertest.Key), time.Minute)
			}
		}
		message := stored(first)
		message.Raw.Origin = other.Origin()
		var notices []string
		_, err = provider.Client{Wire: other}.Stream(t.Context(), ask("What is here?", message), func(e provider.Event) {
			if n, ok := e.(provider.Notice); ok {
				notices = append(notices, string(n))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Refused()) != 1 || len(notices) != 1 {
			t.Errorf("refused %v, notices %v; expected one of each", s.Refused(), notices)
		}
	})
}

func TestSchemaIsSentAsItIs(t *testing.T) {
	each(t, []providertest.Reply{{Text: "Fine."}}, func(t *testing.T, s *providertest.Server, w provider.Wire) {
		r := ask("Well?")
		r.Tools = []provider.Tool{{Name: "t", Schema: []byte(`{"type":"object","properties":{"n":{"maximum":12345678901234567890,"multipleOf":1.50}},"$defs":{"x":true}}`)}}
		if _, err := w.Stream(t.Context(), r, none); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"maximum":12345678901234567890`, `1.50`, `"$defs":{"x":true}`} {
			if body := s.Requests()[0].Body; !bytes.Contains(body, []byte(want)) {
				t.Errorf("the request lacks %s: %s", want, body)
			}
		}
	})
}
