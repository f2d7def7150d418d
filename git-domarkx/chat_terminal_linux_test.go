package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// talking returns a repository with the trusted session talk, which has files, and a model that gives these replies.
func talking(t *testing.T, replies ...providertest.Reply) (place, *providertest.Server) {
	t.Helper()
	p := newPlace(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TEST_KEY", providertest.Key)
	server := providertest.New(t, replies...)
	p.write("talk.md", "```workspace-config\nresources:\n  - type: filesystem\n    id: files\n```\n")
	p.run(0, "-q", "import", "talk.md")
	p.run(0, "-q", "trust", "talk")
	for key, value := range map[string]string{"": "m", ".m.provider": "openai", ".m.url": server.Base(), ".m.keyEnv": "TEST_KEY"} {
		p.git("config", "domarkx.model"+key, value)
	}
	return p, server
}

func writeCall(path, content string) []providertest.Call {
	arguments, _ := json.Marshal(map[string]string{"path": path, "content": content})
	return []providertest.Call{{Name: "files__write_file", Arguments: string(arguments)}}
}

const (
	ready   = "\x1b[?2004h> "
	approve = "Make this call of write_file? [y]es, [n]o, [a]lways: "
)

// TestConversation types what people type to a model, and checks the screen and the session.
func TestConversation(t *testing.T) {
	for name, test := range map[string]struct {
		replies []providertest.Reply
		typed   []reply
		status  int
		shown   []string
		stored  []string // texts of the session; those after "!" it must not have
	}{
		"an answer": {
			[]providertest.Reply{{Thought: "hm", Text: "Hello \x1b[31myou."}}, []reply{{ready, "hello\r"}, {ready, "\x04"}}, 0,
			[]string{"talk with m. Ctrl-D ends the conversation.", `Hello \x1b[31myou.`, "hm"}, []string{"hello", "Hello \x1b[31myou."},
		},
		"a call is approved": {
			[]providertest.Reply{{Text: "I write.", Calls: writeCall("a.txt", "\x1b[2Jtext")}, {Text: "Done."}}, []reply{{ready, "write\r"}, {approve, "y\r"}, {ready, "\x04"}}, 0,
			[]string{"> files write_file", `\u001b[2Jtext`, "Done."}, []string{`"ok": true`, "Done."},
		},
		"a call is declined": {
			[]providertest.Reply{{Calls: writeCall("a.txt", "x")}, {Text: "As you like."}}, []reply{{ready, "write\r"}, {approve, "what?\r"}, {approve, "NO\r"}, {ready, "\x04"}}, 0,
			[]string{"refused", "As you like."}, []string{`"code": "refused"`, `!"ok": true`},
		},
		"always": {
			[]providertest.Reply{{Calls: writeCall("a.txt", "x")}, {Calls: writeCall("b.txt", "y")}, {Text: "Both done."}}, []reply{{ready, "write\r"}, {approve, "a\r"}, {ready, "\x04"}}, 0,
			[]string{"Both done."}, []string{"b.txt", `!"code"`},
		},
		"several lines": {
			[]providertest.Reply{{Text: "I see three."}}, []reply{{ready, "one\\\r"}, {"… ", "two\\\r"}, {"… ", "three\r"}, {ready, "\x04"}}, 0, []string{"I see three."}, []string{"one\ntwo\nthree\n"},
		},
		"pasted lines": {
			[]providertest.Reply{{Text: "Pasted."}}, []reply{{ready, "\x1b[200~one\rtwo\r\x1b[201~"}, {"… ", "three\r"}, {ready, "\x04"}}, 0, []string{"Pasted."}, []string{"one\ntwo\nthree\n"},
		},
		"a paste after typed words": {
			[]providertest.Reply{{Text: "Both."}}, []reply{{ready, "See: \x1b[200~one\r\ntwo\x1b[201~"}, {"two", "\r"}, {ready, "\x04"}}, 0, nil, []string{"See: one\ntwo\n"},
		},
		"a line that is too long": {nil, []reply{{ready, strings.Repeat("x", 5000) + "\r"}, {ready, "\x04"}}, 0, []string{"the message was not sent"}, []string{"!xxx"}},
		"nothing but blanks":      {nil, []reply{{ready, "  \r"}, {ready, "\x04"}}, 0, nil, []string{"!## user"}},
		"an error of the model": {
			[]providertest.Reply{{Status: http.StatusBadRequest, Body: `{"error": {"message": "too \u001b[2J long", "type": "invalid_request_error"}}`}, {Text: "Better."}},
			[]reply{{ready, "hello\r"}, {ready, "again\r"}, {ready, "\x04"}}, 0, []string{`too \x1b[2J long`, "Better."}, []string{"Better."},
		},
		"Ctrl-C at the prompt": {nil, []reply{{ready, "text\x03"}, {"Ctrl-C again, or Ctrl-D, ends the conversation.", ""}, {ready, "\x03"}}, 130, nil, []string{"!text"}},
		"the line before": {
			[]providertest.Reply{{Text: "First."}, {Text: "Second."}}, []reply{{ready, "a question\r"}, {"First.", ""}, {ready, "\x1b[A\r"}, {ready, "\x04"}}, 0, []string{"Second."}, []string{"a question", "Second."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := talking(t, test.replies...)
			status, shown := p.on(test.typed, "chat", "talk")
			if status != test.status {
				t.Errorf("status %d, expected %d", status, test.status)
			}
			for _, text := range test.shown {
				if !strings.Contains(shown, text) {
					t.Errorf("%q is not on\n%q", text, shown)
				}
			}
			if strings.Contains(shown, "\x1b[2J") || strings.Contains(shown, "\x1b[31m") {
				t.Errorf("the model controls the terminal:\n%q", shown)
			}
			out, _ := p.run(0, "show", "talk")
			for _, text := range test.stored {
				rest, lacks := strings.CutPrefix(text, "!")
				if strings.Contains(out, rest) == lacks {
					t.Errorf("expected %q in\n%q", text, out)
				}
			}
		})
	}
}

// TestConversationThatWasCut checks that a conversation begins with pending calls: a call that nobody decided on.
func TestConversationThatWasCut(t *testing.T) {
	p, _ := talking(t, providertest.Reply{Text: "I write.", Calls: writeCall("a.txt", "x")}, providertest.Reply{Text: "Done."})
	if _, stderr := p.run(exitNo, "chat", "-m", "write", "talk"); !strings.Contains(stderr, "files__write_file needs your approval") {
		t.Errorf("off a terminal: %s", stderr)
	}
	status, shown := p.on([]reply{{approve, "y\r"}, {ready, "\x04"}}, "chat", "talk")
	if status != exitOK || !strings.Contains(shown, "Done.") {
		t.Errorf("status %d:\n%s", status, shown)
	}
}

// TestConversationGoesOnFirst checks that files go with the first message that is typed, and that no earlier message of
// the session controls the terminal.
func TestConversationGoesOnFirst(t *testing.T) {
	p, _ := talking(t, providertest.Reply{Text: "One."}, providertest.Reply{Text: "Two."})
	p.write("a.txt", "of the file\n")
	p.run(0, "-q", "append", "-m", "earlier", "talk")
	p.run(0, "-q", "append", "-m", "hostile \x1b[2Jtext", "talk")
	p.run(exitUsage, "chat", "--attach", "a.txt", "talk")
	status, shown := p.on([]reply{{"One.", ""}, {ready, "\x1b[A"}, {"earlier", "\r"}, {"Two.", ""}, {ready, "\x04"}}, "chat", "--attach", "a.txt", "talk")
	if status != exitOK || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("status %d:\n%q", status, shown)
	}
	if out, _ := p.run(0, "show", "talk"); !strings.Contains(out, "of the file") || strings.Count(out, "earlier") != 2 {
		t.Errorf("stored:\n%s", out)
	}
}

// TestSuggestedModel checks that a model which a session suggests is used only after a yes.
func TestSuggestedModel(t *testing.T) {
	const question = "talk suggests the model other. Use it? [y/N] "
	for answer, want := range map[string]string{"y": "other", "n": "m"} {
		p, server := talking(t, providertest.Reply{Text: "Hello."})
		for key, value := range map[string]string{"provider": "openai", "url": server.Base(), "keyEnv": "TEST_KEY"} {
			p.git("config", "domarkx.model.other."+key, value)
		}
		p.write("talk.md", "```session-config\n{\"model\": \"other\"}\n```\n\n## user\n\nhello\n")
		p.run(0, "-q", "import", "talk.md")
		_, shown := p.on([]reply{{question, answer + "\r"}, {ready, "\x04"}}, "chat", "talk")
		if !strings.Contains(shown, fmt.Sprintf("talk with %s.", want)) {
			t.Errorf("%q:\n%s", answer, shown)
		}
	}
}

// TestManyCallsOnTerminal gives an answer more calls than the limit: the user is asked whether to make them.
func TestManyCallsOnTerminal(t *testing.T) {
	calls := slices.Concat(writeCall("a.txt", "x"), writeCall("b.txt", "x"), writeCall("c.txt", "x"))
	p, _ := talking(t, providertest.Reply{Calls: calls}, providertest.Reply{Text: "Done."})
	const more = "The turn made 1 call, its limit. Make as many again? [y/N] "
	status, shown := p.on([]reply{{more, "y\r"}, {more, "n\r"}}, "chat", "--approve", "all", "--max-calls", "1", "-m", "write", "talk")
	if status != exitNo || !strings.Contains(shown, "the turn made 1 call, its limit; to go on: git domarkx chat talk") {
		t.Errorf("status %d:\n%s", status, shown)
	}
	if out, _ := p.run(0, "show", "talk"); strings.Count(out, `"ok": true`) != 2 || strings.Contains(out, "Done.") {
		t.Errorf("stored:\n%s", out)
	}
	if status, shown = p.on([]reply{{ready, "\x04"}}, "chat", "--approve", "all", "--max-calls", "1", "talk"); status != exitOK || !strings.Contains(shown, "Done.") {
		t.Errorf("status %d:\n%s", status, shown)
	}
}
