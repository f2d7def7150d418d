package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// A stream is the events of a session, one after another.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

// follow listens for the events of an address until the test ends.
func (s *site) follow(address string) stream {
	s.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = host
		s.pages.ServeHTTP(w, r)
	}))
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.AddCookie(s.cookie)
	answer, err := server.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cancel()
		answer.Body.Close()
		server.Close() // waits until the server has noticed
	})
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || kind != "text/event-stream" {
		s.t.Fatalf("%s: %d, %q", address, answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return stream{s.t, lines}
}

// next returns the next event: "changed", or the messages of one.
func (s stream) next() string {
	s.t.Helper()
	for s.lines.Scan() {
		line := s.lines.Text()
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			s.lines.Scan() // its data
			return kind
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			var text string
			if err := json.Unmarshal([]byte(data), &text); err != nil {
				s.t.Fatalf("%v in %s", err, data)
			}
			return text
		}
	}
	s.t.Fatalf("the stream ended: %v", s.lines.Err())
	return ""
}

// TestLive checks the events that a browser gets when a session changes.
func TestLive(t *testing.T) {
	edit := func(old, text string) func(*enginetest.Clone, string) {
		return func(c *enginetest.Clone, base string) {
			c.Saved("talk", base, strings.Replace(c.Shown("talk"), old, text, 1))
		}
	}
	var many strings.Builder
	for i := range 301 {
		fmt.Fprintf(&many, "\n## user\n\nnumber %d\n", i)
	}
	for name, test := range map[string]struct {
		change     func(c *enginetest.Clone, base string)
		has, lacks string // texts of the event
	}{
		"another message":            {func(c *enginetest.Clone, _ string) { c.Appended("talk", "two <script>") }, "<p>two &lt;script&gt;</p>", "secret"},
		"the last message changed":   {edit("one", "uno"), "<p>uno</p>", "secret"},
		"an earlier message changed": {edit("the secret", "a text"), "changed", "a text"},
		"all messages removed":       {func(c *enginetest.Clone, base string) { c.Saved("talk", base, "") }, "changed", "one"},
		"the last message removed": {func(c *enginetest.Clone, base string) {
			c.Saved("talk", base, c.Shown("talk")[:strings.LastIndex(c.Shown("talk"), "## ")])
		}, "changed", "one"},
		"the last message replaced": {func(c *enginetest.Clone, base string) {
			c.Saved("talk", base, c.Shown("talk")[:strings.LastIndex(c.Shown("talk"), "## ")]+"## assistant\n\nquite another answer\n")
		}, "changed", "one"},
		"more messages than a page has": {func(c *enginetest.Clone, base string) { c.Saved("talk", base, c.Shown("talk")+many.String()) }, "changed", "number"},
		"more text than a page has":     {func(c *enginetest.Clone, _ string) { c.Appended("talk", strings.Repeat("more text\n", 120_000)) }, "changed", "more"},
		"session removed": {func(c *enginetest.Clone, _ string) {
			if _, err := c.Remove(c.T.Context(), "talk", nil); err != nil {
				c.T.Fatal(err)
			}
		}, "changed", "one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			base := s.clone.Appended("talk", "one").ID
			events := s.follow("/live/talk?from=1&at=" + base)
			test.change(s.clone, base)
			if got := events.next(); !strings.Contains(got, test.has) || strings.Contains(got, test.lacks) {
				t.Errorf("the event is %q", got)
			}
		})
	}
}

// TestLiveGoesOn checks that each event has only what the events before it did not have.
func TestLiveGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	events := s.follow("/live/talk?from=0")
	for range 5 { // more than the pages that are made at the same time
		s.follow("/live/talk?from=0")
	}
	for i := range 2 {
		s.clone.Appended("talk", fmt.Sprintf("number %d", i))
		if got := events.next(); !strings.Contains(got, fmt.Sprintf("number %d", i)) || strings.Contains(got, "secret") != (i == 0) {
			t.Errorf("event %d is %q", i, got)
		}
	}
	if answer := s.ask(http.MethodHead, "/live/talk?from=0", nil); answer.Code != http.StatusOK || answer.Body.Len() > 0 {
		t.Errorf("HEAD: %d %q", answer.Code, answer.Body)
	}
}

// TestLiveOfOtherHistory checks that a page of a snapshot that is gone, as after a redaction, is loaded again.
func TestLiveOfOtherHistory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, from := range []string{"0", "1"} {
		if got := s.follow("/live/talk?from=" + from + "&at=" + strings.Repeat("1", 40)).next(); got != "changed" {
			t.Errorf("from %s: the event is %q", from, got)
		}
	}
}

// TestLiveConflict checks that the texts of a merge conflict keep their anchors.
func TestLiveConflict(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	base, text := s.clone.Appended("talk", "one").ID, s.clone.Shown("talk")
	s.clone.Saved("talk", base, strings.Replace(text, "one", "uno", 1))
	s.clone.Saved("talk", base, strings.Replace(text, "one", "eins", 1))
	anchor := regexp.MustCompile(`<article class="user" id="(\w+-2)">`).FindStringSubmatch(s.page("/s/talk"))
	events := s.follow("/live/talk?from=2")
	s.clone.Appended("talk", "two")
	if got := events.next(); anchor == nil || !strings.Contains(got, `id="`+anchor[1]+`"`) {
		t.Errorf("no %q in the event %q", anchor, got)
	}
}
