package openpocket_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/openpocket"
	"github.com/domarkx/domarkx/format/syntax"
)

// TestPlace: a session is in a file named after its id.
func TestPlace(t *testing.T) {
	for attempt, want := range []string{"session-20260218-130000.md", "session-20260218-130000-2.md"} {
		got, err := openpocket.Place(formattest.File(head+step1+final), attempt)
		if err != nil || got != (format.Place{Path: want, ID: "20260218-130000"}) {
			t.Errorf("attempt %d: %+v, %v", attempt, got, err)
		}
	}
	for name, data := range map[string]string{"another format": "# Title\n", "another id": strings.Replace(head, "20260218-130000", "../../x", 1), "nothing": ""} {
		if _, err := openpocket.Place(formattest.File(data), 0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := formattest.File(head)
	f.Content = &formattest.FailingReader{ReaderAt: f.Content}
	if _, err := openpocket.Place(f, 0); !errors.Is(err, formattest.ErrBroken) {
		t.Errorf("a file that cannot be read: %v", err)
	}
}

// TestFork: the id of a fork is its time, and another one than the session's.
func TestFork(t *testing.T) {
	c := openpocket.Codec()
	h := decode(t, head+step1).Header
	for at, want := range map[string]string{
		"2026-02-18T14:00:00+01:00": "20260218-130001", // at its own second
		"2026-02-19T00:00:00Z":      "20260219-000000",
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		forked, ok := c.Fork(h, format.Fork{UUID: "unused", At: when})
		if id, _ := forked.UserMetadata.Get("id"); !ok || id.Text() != want {
			t.Errorf("forked at %s: %s, %t", at, forked.UserMetadata.JSON(), ok)
		}
	}
	for _, h := range []domarkx.Header{domarkx.NewHeader(), withID(h, "x")} {
		if _, ok := c.Fork(h, format.Fork{}); ok {
			t.Error("a session of another format was forked")
		}
	}
}

func withID(h domarkx.Header, id string) domarkx.Header {
	about := h.UserMetadata.With("id", jsonvalue.StringValue(id))
	h.UserMetadata = &about
	return h
}

// TestDamagedHeads: whatever of a head is cut off, the rest of the document is read, and reported.
func TestDamagedHeads(t *testing.T) {
	for at := range len(head) {
		data := head[:at]
		if !openpocket.Detect([]byte(data), "") {
			continue
		}
		doc := decode(t, data)
		if len(doc.Damage) == 0 && at < len(head)-1 {
			t.Errorf("cut off after %q without a report", data)
		}
		out, _ := encode(t, doc)
		if again := decode(t, out); len(again.Conversation) < len(doc.Conversation) {
			t.Errorf("cut off after %q: %d messages were written as %d", data, len(doc.Conversation), len(again.Conversation))
		}
	}
	for name, test := range map[string]struct{ old, new, report string }{
		"a time that is none":      {"- at: 2026", "- at: long ago 2026", "expected a date and time"},
		"a number that is none":    {"### Step 1", "### Step one", "expected a number"},
		"a start that is none":     {"- started_at: 2026", "- started_at: once 2026", "expected a date and time"},
		"a heading that is longer": {"## Task", "## Tasks", ""},
	} {
		data := strings.Replace(head+step1+final, test.old, test.new, 1)
		doc := decode(t, data)
		found := slices.ContainsFunc(doc.Damage, func(e *syntax.Error) bool { return strings.Contains(e.Error(), test.report) })
		if !found {
			t.Errorf("%s: reports %v", name, doc.Damage)
		}
	}
}

// TestLosses: whatever of a step the format has no place for is reported.
func TestLosses(t *testing.T) {
	block := func(language, text string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: text}
	}
	call := block("tool-call", `{"resource": "phone", "tool": "tap", "arguments": {"x": 1}}`)
	for _, test := range []struct {
		name   string
		blocks []domarkx.Block
		want   string
	}{
		{"nothing", []domarkx.Block{call, block("tool-result", `{"ok": true, "result": "done"}`)}, ""},
		{"another resource", []domarkx.Block{block("tool-call", `{"resource": "shell", "tool": "tap", "arguments": {}}`), block("tool-result", `{"ok": true, "result": "done"}`)}, "resource of a tool-call"},
		{"the id of a call", []domarkx.Block{block("tool-call", `{"resource": "phone", "id": "c", "tool": "tap", "arguments": {}}`), block("tool-result", `{"ok": true, "result": "done"}`)}, "id of a tool-call"},
		{"a result that is JSON", []domarkx.Block{call, block("tool-result", `{"ok": true, "result": {"a": 1}}`)}, "that a result is JSON, which becomes text"},
		{"a result that is not ok", []domarkx.Block{call, block("tool-result", `{"ok": false, "result": "x"}`)}, "that a result is not ok"},
		{"more of a result", []domarkx.Block{call, block("tool-result", `{"ok": true, "result": "x", "time": 5}`)}, "time of a tool-result"},
		{"the code of an error", []domarkx.Block{call, block("tool-result", `{"ok": false, "error": {"code": "denied", "message": "no"}}`)}, "error.code of a tool-result"},
		{"a plain error", []domarkx.Block{call, block("tool-result", `{"ok": false, "error": {"code": "failed", "message": "no"}}`)}, ""},
	} {
		doc := decode(t, head+step1+final)
		doc.Conversation[1].Content = test.blocks
		doc.Conversation[1].Metadata = nil
		_, lost := encode(t, doc)
		if got := strings.Join(lost, "\n"); (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: lost %q, want %q", test.name, got, test.want)
		}
	}
}
