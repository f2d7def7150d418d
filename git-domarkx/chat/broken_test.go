package chat_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

func TestInterruptedAnswer(t *testing.T) {
	stop := errors.New("ended by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	half := says(provider.Thought{Text: "hm"}, provider.Text{Text: "half of it"}, provider.Call{ID: "1", Name: "files__write_file", Arguments: write})
	half.after = func(context.Context) { cancel(stop) }
	s := newSite(t, half, say("the other half"))
	s.session("s", config)
	if _, err := s.turn(ctx, "s", "hello"); !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	_, m := s.message("s", 1)
	if len(m.Content) != 2 || m.Content[1].Text != "half of it" {
		t.Errorf("kept %+v", m.Content)
	}
	if v, _ := m.Metadata.Get("interrupted"); !v.IsTrue() {
		t.Error("the answer is not marked")
	}
	if !strings.Contains(s.notices(), "calls") {
		t.Errorf("notices %q", s.notices())
	}
	if got := s.must("s", ""); got.Text != "the other half" {
		t.Errorf("going on: %+v", got)
	}
}

func TestInterruptedBeforeTool(t *testing.T) {
	stop := errors.New("ended by the user")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := newSite(t, callsTool("files__search", `{"pattern": "x"}`), say("I see."))
	s.session("s", config)
	s.approve = asking(func() { cancel(stop) })
	if _, err := s.turn(ctx, "s", "look"); !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	if _, m := s.message("s", 1); len(m.Content) != 2 {
		t.Fatalf("a call that had not begun has a result: %+v", m.Content)
	}
	s.approve = denying()
	if got := s.must("s", ""); got.Text != "I see." {
		t.Errorf("going on: %+v", got)
	}
}

func TestProviderFails(t *testing.T) {
	cut := say("half")
	cut.err = &provider.Error{Kind: provider.ErrCut}
	none := reply{err: &provider.Error{Kind: provider.ErrServer}}
	s := newSite(t, none, cut, say("whole"))
	s.session("s", config)
	if _, err := s.turn(t.Context(), "s", "hello"); !errors.Is(err, provider.ErrServer) || s.tip("s").Messages != 1 {
		t.Errorf("%d messages, %v", s.tip("s").Messages, err)
	}
	if _, err := s.turn(t.Context(), "s", ""); !errors.Is(err, provider.ErrCut) || s.tip("s").Messages != 2 {
		t.Errorf("%d messages, %v", s.tip("s").Messages, err)
	}
	if got := s.must("s", ""); got.Text != "whole" || s.tip("s").Messages != 3 {
		t.Errorf("%d messages, %+v", s.tip("s").Messages, got)
	}
}

// TestJournal stops in the middle of an answer as a kill does: what the journal has is kept once.
func TestJournal(t *testing.T) {
	for _, when := range []string{"before the answer is stored", "after it"} {
		t.Run(when, func(t *testing.T) {
			s := newSite(t)
			s.session("s", config)
			var journal []byte
			copied := func(context.Context) {
				files, _ := filepath.Glob(filepath.Join(s.git.StateDir(), "turns", "*.stream"))
				if len(files) != 1 {
					t.Fatalf("journals: %q", files)
				}
				journal, _ = os.ReadFile(files[0])
			}
			r := says(provider.Thought{Text: "hm"}, provider.Text{Text: "It is 42, and so on."})
			r.after = copied
			if when != "after it" {
				r.err = &provider.Error{Kind: provider.ErrServer}
				r.answer.Parts = nil
				r.before = nil
				r = reply{err: &provider.Error{Kind: provider.ErrServer}, answer: provider.Answer{Parts: []provider.Part{provider.Text{Text: "It is 42, and so on."}}}, after: copied}
			}
			s.model.script = []reply{r, say("next")}
			path := ""
			s.turn(t.Context(), "s", "hello")
			path = s.journal("s")
			if when != "after it" { // as if the answer had not been stored
				s.rewind("s", 0)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the journal is left: %v", err)
			}
			if err := os.WriteFile(path, append(journal, `{"text": "half a li`...), 0o600); err != nil {
				t.Fatal(err)
			}
			before := s.tip("s").Messages
			s.must("s", "and?")
			after := s.tip("s").Messages
			if want := map[bool]int{true: before + 2, false: before + 3}[when == "after it"]; after != want {
				t.Errorf("%d messages, want %d: %s", after, want, s.show("s"))
			}
			if n := strings.Count(s.show("s"), "It is 42, and so on."); n != 1 {
				t.Errorf("the text is there %d times", n)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the journal is left: %v", err)
			}
		})
	}
}

// TestJournalOfASessionThatIsGone checks that the answer of a killed process goes with a renamed session, and not into
// another one that gets the name.
func TestJournalOfASessionThatIsGone(t *testing.T) {
	for name, gone := range map[string]func(s *site) (session string, kept int){
		"renamed": func(s *site) (string, int) {
			if _, err := s.turnsManager.Rename(t.Context(), "s", "r"); err != nil {
				t.Fatal(err)
			}
			return "r", 1
		},
		"replaced": func(s *site) (string, int) {
			if _, err := s.turnsManager.Remove(t.Context(), "s", nil); err != nil {
				t.Fatal(err)
			}
			s.session("s", config)
			return "s", 0
		},
		"forked": func(s *site) (string, int) {
			if _, err := s.Fork(t.Context(), engine.Revision{Name: "s", Message: 0}, "f"); err != nil {
				t.Fatal(err)
			}
			return "f", 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			var journal []byte
			s := newSite(t, say("ok"), say("next"))
			s.session("s", config)
			s.model.script[0].after = func(context.Context) { journal, _ = os.ReadFile(s.journal("s")) }
			s.must("s", "hello")
			s.rewind("s", 0)
			if err := os.WriteFile(s.journal("s"), bytes.ReplaceAll(journal, []byte(`"ok"`), []byte(`"in part"`)), 0o600); err != nil {
				t.Fatal(err)
			}
			session, kept := gone(s)
			s.must(session, "and?")
			if n := strings.Count(s.show(session), "in part"); n != kept {
				t.Errorf("the text is there %d times, want %d", n, kept)
			}
			if _, err := os.Stat(s.journal("s")); os.IsNotExist(err) != (name != "forked") {
				t.Errorf("the journal: %v", err)
			}
		})
	}
}

func TestDamagedJournal(t *testing.T) {
	for _, data := range []string{"", "{", "\x00\x00\n", "{\"format\": 2}\n", "{\"format\": 1}\n{\"text\": \"x\"}\n", strings.Repeat("x", 100) + "\n"} {
		s := newSite(t, say("ok"))
		s.session("s", config)
		path := s.journal("s")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		s.must("s", "hello")
		if s.tip("s").Messages != 2 {
			t.Errorf("%q: %d messages", data, s.tip("s").Messages)
		}
	}
}

func TestLargeAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("it stores 11 MiB twice")
	}
	large := strings.Repeat("all of it. ", 1<<20)
	s := newSite(t, says(provider.Text{Text: large}), say("yes"))
	s.model.script[0].answer.Parts = []provider.Part{provider.Text{Text: large}}
	s.session("s", config)
	s.must("s", "hello")
	s.must("s", "again")
	if _, m := s.message("s", 1); len(m.Content[0].Text) < 11<<20-1 {
		t.Errorf("%d bytes", len(m.Content[0].Text))
	}
}
