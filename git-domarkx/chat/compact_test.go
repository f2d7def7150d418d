package chat_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

var tooLong = reply{err: &provider.Error{Kind: provider.ErrContext, Status: 400}}

func TestLongSessionIsCompacted(t *testing.T) {
	s := newSite(t)
	var doc strings.Builder
	doc.WriteString(config + "\n## system_message\n\nbe kind\n")
	for i := range 5 {
		fmt.Fprintf(&doc, "\n## user\n\nquestion %d\n\n## assistant\n\nanswer %d\n", i, i)
	}
	s.session("s", doc.String())
	s.model.script = []reply{tooLong, tooLong, say("They asked five questions.\n\n```tool-call\n{}\n```"), say("Sure."), say("Still here.")}
	before := s.show("s")
	if got := s.must("s", "and now?"); got.Text != "Sure." {
		t.Errorf("result %+v", got)
	}
	if !strings.HasPrefix(s.show("s"), before) {
		t.Error("the stored session lost something")
	}
	_, summary := s.message("s", 12)
	compacts, _ := summary.Metadata.Get("compacts")
	if e, _ := s.message("s", 10); compacts.Text() != e.ID.String() || summary.Role != "user" || len(summary.Content) != 1 {
		t.Errorf("summary %+v", summary)
	}
	for n := 3; n <= 4; n++ {
		if n == 4 {
			s.must("s", "there?")
		}
		got := s.model.sent(n)
		if !strings.HasPrefix(got, "user text This is a summary of the conversation so far.") || strings.Contains(got, "question 4") ||
			strings.Count(got, "and now?") != 1 || strings.Index(got, "They asked") > strings.Index(got, "and now?") {
			t.Errorf("request %d:\n%s", n, got)
		}
		if system := s.model.requests[n].System; len(system) != 1 || system[0] != "be kind" {
			t.Errorf("request %d: system %q", n, system)
		}
	}
	if len(s.model.requests[2].Tools) != 0 || !s.model.requests[2].Plain {
		t.Error("the summary was asked for with tools or provider items")
	}
}

func TestOldResultsAreShortenedFirst(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("line ", 1000)
	s.session("s", config+"\n## user\n\nread\n\n## assistant\n\n```tool-call\n{\"resource\": \"files\", \"tool\": \"read_file\", \"arguments\": {}}\n```\n\n```tool-result\n{\"ok\": true, \"result\": \""+long+"\"}\n```\n"+
		strings.Repeat("\n## user\n\nmore\n\n## assistant\n\nyes\n", 4))
	s.model.script = []reply{tooLong, say("ok")}
	s.must("s", "and?")
	if first, second := s.model.sent(0), s.model.sent(1); !strings.Contains(first, long) || strings.Contains(second, long) || !strings.Contains(second, "left out") {
		t.Errorf("requests of %d and %d bytes", len(first), len(second))
	}
	if !strings.Contains(s.show("s"), long) {
		t.Error("the stored result was shortened")
	}
}

func TestCompactsAtEightyPercent(t *testing.T) {
	for _, test := range []struct {
		context int64
		asked   int
	}{{0, 1}, {10000, 1}, {1100, 2}} {
		big := say("first")
		big.answer.Usage = provider.Usage{Input: 900, Output: 1}
		s := newSite(t, big)
		s.session("s", config)
		s.must("s", strings.Repeat("long text ", 400))
		s.model.requests, s.context = nil, test.context
		s.model.script = []reply{say("a summary"), say("done")}
		s.must("s", "next")
		if len(s.model.requests) != test.asked {
			t.Errorf("window of %d: %d requests, want %d", test.context, len(s.model.requests), test.asked)
		}
	}
}

func TestConversationThatNeverFits(t *testing.T) {
	s := newSite(t)
	s.session("s", config+"\n## user\n\na\n\n## assistant\n\nb\n")
	for range 40 {
		s.model.script = append(s.model.script, tooLong)
	}
	if _, err := s.turn(t.Context(), "s", "next"); err == nil || len(s.model.requests) > 12 {
		t.Errorf("%d requests, %v", len(s.model.requests), err)
	}
}
