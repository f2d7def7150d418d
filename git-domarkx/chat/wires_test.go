package chat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// providers are those of the strict server.
var providers = []string{"anthropic", "openai", "openai-chat", "gemini"}

func wire(t *testing.T, server *providertest.Server, name, model string) provider.Wire {
	t.Helper()
	address := server.Base()
	if name == "gemini" {
		address = server.Gemini()
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return provider.Client{Wire: models.Open(models.Definition{Name: name, Provider: name, URL: u, Model: model, Timeout: 10 * time.Second}, provider.NewKey(providertest.Key))}
}

func (s *site) ask(w provider.Wire, text string) string {
	s.t.Helper()
	return s.askIn("s", w, text)
}

func (s *site) askIn(session string, w provider.Wire, text string) string {
	s.t.Helper()
	result, err := s.chat.Turn(s.t.Context(), chat.Request{Session: session, Text: &text, Approve: trust.Calls{All: true}, Model: chat.Model{Wire: w},
		Emit: func(e chat.Event) { s.events = append(s.events, e) }})
	if err != nil {
		s.t.Fatal(err)
	}
	return result.Text
}

// toolTurn is a turn with reasoning and two calls at once.
func toolTurn() []providertest.Reply {
	return []providertest.Reply{
		{Thought: "I write and look.", Text: "At once.", Calls: []providertest.Call{{Name: "files__write_file", Arguments: write}, {Name: "files__list_dir", Arguments: `{"path": "."}`}}},
		{Thought: "It is there.", Text: "Done."},
	}
}

// sentItems returns which of the server's items the last request has, byte for byte.
func sentItems(server *providertest.Server) (sent, all int) {
	requests := server.Requests()
	body := requests[len(requests)-1].Body
	for _, item := range server.Items() {
		all++
		if bytes.Contains(body, item) {
			sent++
		}
	}
	return sent, all
}

func TestItemsGoBackByteForByte(t *testing.T) {
	for _, name := range providers {
		t.Run(name, func(t *testing.T) {
			server := providertest.New(t, append(toolTurn(), providertest.Reply{Text: "Yes."})...)
			s := newSite(t)
			s.session("s", config)
			if got := s.ask(wire(t, server, name, "m-1"), "Write it."); got != "Done." {
				t.Errorf("answer %q", got)
			}
			if got := s.ask(wire(t, server, name, "m-1"), "Sure?"); got != "Yes." {
				t.Errorf("answer %q", got)
			}
			if refused := server.Refused(); len(refused) > 0 {
				t.Errorf("refused: %q", refused)
			}
			items := server.Items()
			items = items[:len(items)-1]
			body := server.Requests()[2].Body
			for _, item := range items {
				if !bytes.Contains(body, item) && name != "openai-chat" {
					t.Errorf("the third request lacks %s", item)
				}
			}
			_, m := s.message("s", 1)
			sum, _ := m.Metadata.Get("provider_items")
			var record bytes.Buffer
			if err := s.WriteAttachment(t.Context(), engine.Revision{Name: "s", Message: -1}, sum.Text(), &record); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(record.String(), "domarkx-items 1\nprovider "+name+"\nhost 127.0.0.1:") {
				t.Errorf("record %.100q", record.String())
			}
		})
	}
}

func TestItemsStayWithTheirOrigin(t *testing.T) {
	for i, name := range providers {
		t.Run(name, func(t *testing.T) {
			after := providers // any provider goes on at any message
			if testing.Short() {
				next := (i + 1) % len(providers)
				after = providers[next : next+1]
			}
			first := providertest.New(t, toolTurn()...)
			second := providertest.New(t, providertest.Reply{Text: "Another host."})
			s := newSite(t)
			s.session("s", config)
			s.ask(wire(t, first, name, "m-1"), "Write it.")
			s.ask(wire(t, second, name, "m-1"), "Sure?")
			body := second.Requests()[0].Body
			for _, item := range first.Items() {
				var whole struct{ Signature, EncryptedContent string }
				if json.Unmarshal(item, &whole) == nil && whole.Signature != "" && bytes.Contains(body, []byte(whole.Signature)) {
					t.Errorf("another host got %s", item)
				}
			}
			if refused := second.Refused(); len(refused) > 0 {
				t.Errorf("refused: %q", refused)
			}
			for _, next := range after {
				server := providertest.New(t, toolTurn()...)
				s.ask(wire(t, server, next, "m-2"), "And now?")
				if refused := server.Refused(); len(refused) > 0 {
					t.Errorf("%s refused: %q", next, refused)
				}
			}
		})
	}
}

func TestEditedAnswerIsSentAsItReads(t *testing.T) {
	for _, name := range providers {
		t.Run(name, func(t *testing.T) {
			server := providertest.New(t, append(toolTurn(), providertest.Reply{Text: "Yes."})...)
			s := newSite(t)
			s.session("s", config)
			w := wire(t, server, name, "m-1")
			s.ask(w, "Write it.")
			text := strings.Replace(s.show("s"), "At once.", "In a minute.", 1)
			if _, err := s.Save(t.Context(), engine.SaveRequest{Name: "s", Base: s.tip("s").ID, Data: []byte(text), Operation: "edit"}); err != nil {
				t.Fatal(err)
			}
			s.ask(w, "Sure?")
			body := string(server.Requests()[2].Body)
			if !strings.Contains(body, "In a minute.") || strings.Contains(body, "At once.") || strings.Contains(body, "I write and look.") {
				t.Errorf("the request has the text before the edit: %s", body)
			}
			if refused := server.Refused(); len(refused) > 0 {
				t.Errorf("refused: %q", refused)
			}
		})
	}
}

// TestSessionIsNeverStuck changes a session in ways that leave calls without results, results
// without calls and messages in another order. Every provider accepts the requests then.
func TestSessionIsNeverStuck(t *testing.T) {
	cutBetween := func(text, from, to string) string {
		i := strings.Index(text, from)
		j := strings.Index(text[i:], to) + i + len(to)
		return text[:i] + text[j:]
	}
	edits := map[string]func(string) string{
		"no result":        func(s string) string { return cutBetween(s, "```tool-result", "\n```\n") },
		"no call":          func(s string) string { return cutBetween(s, "```tool-call", "\n```\n") },
		"no first message": func(s string) string { return cutBetween(s, "## user", "It.\n") },
		"no last answer":   func(s string) string { return s[:strings.LastIndex(s, "## assistant")] },
		"a broken call":    func(s string) string { return strings.Replace(s, `"resource"`, `resource`, 1) },
		"a broken result":  func(s string) string { return strings.Replace(s, `{"ok": true`, `{"ok": tr`, 1) },
		"other order": func(s string) string {
			i := strings.LastIndex(s, "## assistant")
			return config + "\n" + s[i:] + "\n" + strings.TrimPrefix(s[:i], config)
		},
		"an answer in answer": func(s string) string { return strings.Replace(s, "Done.", "Done.\n\n## assistant\n\nReally.", 1) },
	}
	kinds := providers
	if testing.Short() {
		kinds = providers[:1]
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			replies := toolTurn()
			for range edits {
				replies = append(replies, providertest.Reply{Text: "Yes."})
			}
			s, w := newSite(t), wire(t, providertest.New(t, replies...), kind, "m-1")
			s.session("s", config)
			s.ask(w, "Write It.")
			before, n := s.show("s"), 0
			for name, edit := range edits {
				text := edit(before)
				if text == before {
					t.Fatalf("%s: the edit changes nothing", name)
				}
				n++
				fork := fmt.Sprint("fork", n)
				if _, err := s.Fork(t.Context(), engine.Revision{Name: "s", Message: -1}, fork); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Save(t.Context(), engine.SaveRequest{Name: fork, Base: s.tip(fork).ID, Data: []byte(text), Operation: "edit"}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := s.askIn(fork, w, "Sure?"); got != "Yes." {
					t.Errorf("%s: answer %q", name, got)
				}
			}
		})
	}
}

func TestRefusedItemsAreLeftOutOnce(t *testing.T) {
	server := providertest.New(t, append(toolTurn(),
		providertest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid signature in thinking block"}}`},
		providertest.Reply{Text: "Yes."})...)
	s := newSite(t)
	s.session("s", config)
	w := wire(t, server, "anthropic", "m-1")
	s.ask(w, "Write it.")
	if got := s.ask(w, "Sure?"); got != "Yes." {
		t.Errorf("answer %q", got)
	}
	requests := server.Requests()
	if body := string(requests[len(requests)-1].Body); strings.Contains(body, `"signature"`) {
		t.Errorf("the repeated request has signatures: %s", body)
	}
	if !strings.Contains(s.notices(), "without them") {
		t.Errorf("notices %q", s.notices())
	}
}

func TestForgedItemsAreNotSent(t *testing.T) {
	server := providertest.New(t, append(toolTurn(), providertest.Reply{Text: "Yes."})...)
	s := newSite(t)
	s.session("s", config)
	w := wire(t, server, "anthropic", "m-1")
	s.ask(w, "Write it.")
	// Another message that claims the items of the first answer.
	_, m := s.message("s", 1)
	sum, _ := m.Metadata.Get("provider_items")
	text := s.show("s") + "\n## assistant\n\n```msg-metadata\n{\"provider\": \"anthropic\", \"provider_items\": \"" + sum.Text() + "\"}\n```\n\nHello.\n"
	if _, err := s.Save(t.Context(), engine.SaveRequest{Name: "s", Base: s.tip("s").ID, Data: []byte(text), Operation: "edit"}); err != nil {
		t.Fatal(err)
	}
	s.ask(w, "Sure?")
	body := string(server.Requests()[2].Body)
	if n := strings.Count(body, `"type":"tool_use"`); n != 2 || !strings.Contains(body, "Hello.") {
		t.Errorf("%d calls in %s", n, body)
	}
}
