package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

const claudeLine = `{"type":"user","message":{"role":"user","content":"from an agent"},"uuid":"11111111-1111-1111-1111-111111111111","parentUuid":null,"sessionId":"22222222-2222-2222-2222-222222222222","timestamp":"2025-01-01T00:00:00Z","cwd":"/w","gitBranch":"topic","version":"1"}` + "\n"

func TestListSessions(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.ImportFile(c.WriteFile("tagged.md", "---\ntags: [red]\n---\n\n## user\n\nwith a tag\n"))
	agent := c.ImportFile(c.WriteFile("agent.jsonl", claudeLine)).Info.Name
	c.Appended("team/a", "first of the team")
	c.Appended("team/b", "second of the team")
	for name, test := range map[string]struct {
		args  arguments
		names string
		total int
		next  int
	}{
		"all, newest first":    {nil, agent + " team/b team/a tagged", 4, 0},
		"null for the default": {arguments{"count": nil, "from": nil, "tag": nil, "session": "t*/a"}, "team/a", 1, 0},
		"a page":               {arguments{"count": 2}, agent + " team/b", 4, 2},
		"the next page":        {arguments{"from": 2, "count": 2}, "team/a tagged", 4, 0},
		"after the last":       {arguments{"from": 4}, "", 4, 0},
		"more than there are":  {arguments{"count": 1 << 40}, agent + " team/b team/a tagged", 4, 0},
		"directory of names":   {arguments{"session": "team"}, "team/b team/a", 2, 0},
		"glob":                 {arguments{"session": "t*/a"}, "team/a", 1, 0},
		"tag":                  {arguments{"tag": "red"}, "tagged", 1, 0},
		"tag that none has":    {arguments{"tag": "blue"}, "", 0, 0},
		"agent":                {arguments{"agent": "claude-code"}, agent, 1, 0},
		"branch":               {arguments{"branch": "topic"}, agent, 1, 0},
		"all conditions count": {arguments{"branch": "topic", "session": "team"}, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var got list
			c.call("list_sessions", test.args, &got)
			var names []string
			for _, s := range got.Sessions {
				names = append(names, s.Session)
			}
			if strings.Join(names, " ") != test.names || got.Total != test.total || got.Next != test.next {
				t.Errorf("got %+v", got)
			}
			if got.Sessions == nil {
				t.Error("no sessions are null, expected an empty array")
			}
		})
	}
	var got list
	c.call("list_sessions", arguments{"session": agent}, &got)
	if s := got.Sessions[0]; s.Origin != "claude-code" || s.Snippet != "from an agent" || s.Title != "from an agent" || s.ActiveAt != "2025-01-01T00:00:00Z" || s.Updated != "2023-11-14T22:13:22Z" || s.Messages != 1 || s.URI != "domarkx:///sessions/"+agent {
		t.Errorf("the agent's session is %+v", s)
	}
	c.call("list_sessions", arguments{"session": "team/a"}, &got)
	if s := got.Sessions[0]; s.Origin != "git-domarkx" || s.Updated != "2023-11-14T22:13:23Z" {
		t.Errorf("the own session is %+v", s)
	}
}

func TestReadMessages(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("talk", "zero")
	old := c.Appended("talk", "one").ID
	c.Appended("talk", "two")
	c.ImportMarkdown(c.WriteFile("empty.md", "---\ntitle: nothing\n---\n"))
	for name, test := range map[string]struct {
		args  arguments
		texts string
		total int
		from  int // of the next page
	}{
		"all":                    {arguments{"session": "talk"}, "zero one two", 3, 0},
		"a page":                 {arguments{"session": "talk", "count": 2}, "zero one", 3, 2},
		"from a message":         {arguments{"session": "talk", "from": 1, "count": 1}, "one", 3, 2},
		"from the end":           {arguments{"session": "talk", "from": -2}, "one two", 3, 0},
		"from before the first":  {arguments{"session": "talk", "from": -9}, "zero one two", 3, 0},
		"one message by name":    {arguments{"session": "talk#1"}, "one", 3, 2},
		"an older snapshot":      {arguments{"session": "talk@" + old}, "zero one", 2, 0},
		"an abbreviated one":     {arguments{"session": "talk@" + old[:8]}, "zero one", 2, 0},
		"snapshots back":         {arguments{"session": "talk~2"}, "zero", 1, 0},
		"bytes of the first":     {arguments{"session": "talk", "offset": 2, "count": 2}, "ro one", 3, 2},
		"a session without any":  {arguments{"session": "empty"}, "", 0, 0},
		"no bytes of a message":  {arguments{"session": "talk#2", "offset": 3}, "", 3, 0},
		"its beginning, counted": {arguments{"session": "talk", "from": -3, "count": 1}, "zero", 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got messages
			c.call("read_messages", test.args, &got)
			var texts []string
			for _, m := range got.Messages {
				texts = append(texts, strings.TrimSpace(m.Text))
			}
			next := 0
			if got.Next != nil {
				next = got.Next.From
			}
			if strings.Join(texts, " ") != test.texts || got.Total != test.total || next != test.from {
				t.Errorf("got %+v, next %+v", got, got.Next)
			}
		})
	}
	for want, args := range map[string]arguments{
		"the session has 3":   {"session": "talk", "from": 3},
		"the session has 0":   {"session": "empty", "from": 1},
		"offset 6 is not in":  {"session": "talk", "offset": 6},
		"offset -1 is not in": {"session": "talk", "offset": -1},
		"number of entries":   {"session": "talk", "count": -1},
		"not found":           {"session": "none"},
		"nothing may follow":  {"session": "talk#1~1"},
		`snapshot "talk@ffffffff": not found: the oldest one of the session is talk~2`: {"session": "talk@ffffffff"},
	} {
		c.refuses("read_messages", args, want)
	}
}

// TestReadMessage checks the description of a message beside its text.
func TestReadMessage(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.ImportFile(c.WriteFile("talk.md", "## user\n\nq\n\n## assistant\n\n```msg-metadata\n{\"model\": \"m-1\"}\n```\n\nanswer\n\n```tool-call\n{\"resource\": \"notes\", \"tool\": \"read\", \"arguments\": {}}\n```\n"))
	var got messages
	c.call("read_messages", arguments{"session": "talk", "from": 1}, &got)
	if len(got.Messages) != 1 {
		t.Fatalf("got %+v", got)
	}
	m := got.Messages[0]
	e, err := c.Store.Entry(t.Context(), got.Snapshot, 1)
	if err != nil || m.Message != e.ID.String() {
		t.Errorf("the id is %q, %v", m.Message, err)
	}
	if m.Index != 1 || m.Role != "assistant" || m.Model != "m-1" || m.URI != "domarkx:///sessions/talk/messages/1" || m.Bytes != 0 || m.Version != "" {
		t.Errorf("got %+v", m)
	}
	if !strings.HasPrefix(m.Text, "answer\n") || !strings.Contains(m.Text, "```tool-call\n") {
		t.Errorf("the text is %q", m.Text)
	}
	if got.Session != "talk" || got.Snapshot != c.Tip("talk").ID || got.Origin != "git-domarkx" {
		t.Errorf("got %+v", got)
	}
}

// TestReadOn reads a session with a message longer than an answer may be, as the answers say how to go
// on. Each part is valid UTF-8, and together they are the message.
func TestReadOn(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("long", "short")
	c.Appended("long", "x"+strings.Repeat("ä€😀", 15_000)) // no part ends between characters by chance
	c.Appended("long", "last")
	texts, at, parts := [3]strings.Builder{}, arguments{"session": "long"}, 0
	for ; ; parts++ {
		if parts == 5 {
			t.Fatal("there is no end")
		}
		var got messages
		c.call("read_messages", at, &got)
		size := 0
		for _, m := range got.Messages {
			if size += len(m.Text); strings.Contains(m.Text, "\uFFFD") || m.Offset != texts[m.Index].Len() {
				t.Errorf("part of message %d from %d has a broken character, or begins elsewhere than at %d", m.Index, m.Offset, texts[m.Index].Len())
			}
			if whole := m.Bytes == 0; whole != (m.Index != 1) {
				t.Errorf("message %d: the whole has %d bytes", m.Index, m.Bytes)
			}
			texts[m.Index].WriteString(m.Text)
		}
		if size > 64<<10 {
			t.Errorf("a part has %d bytes", size)
		}
		if got.Next == nil {
			break
		}
		at = arguments{"session": "long", "from": got.Next.From, "offset": got.Next.Offset}
	}
	if parts < 2 || strings.TrimSpace(texts[1].String()) != "x"+strings.Repeat("ä€😀", 15_000) || strings.TrimSpace(texts[2].String()) != "last" {
		t.Errorf("after %d parts, %d bytes and %q", parts, texts[1].Len(), texts[2].String())
	}
}

func TestDiff(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("talk", "zero")
	first := c.Appended("talk", "one").ID
	c.Appended("talk", "two")
	c.Appended("other", "zero")
	for name, test := range map[string]struct {
		args        arguments
		a, b        string
		has, hasNot string
	}{
		"newest change":      {arguments{"a": "talk"}, "talk~1", "talk", "\n+two\n", "\n+one"},
		"change of the past": {arguments{"a": "talk~1"}, "talk~2", "talk~1", "\n+one\n", "two"},
		"two snapshots":      {arguments{"a": "talk", "b": "talk@" + first}, "talk", "talk@" + first, "\n-two\n", "\n+two"},
		"two sessions":       {arguments{"a": "other", "b": "talk"}, "other", "talk", "\n+two\n", "\n-zero"},
		"two messages":       {arguments{"a": "talk#0", "b": "talk#1"}, "talk#0", "talk#1", "\n-zero\n+one\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got difference
			c.call("diff", test.args, &got)
			if got.A != test.a || got.B != test.b || !strings.Contains(got.Text, test.has) || test.hasNot != "" && strings.Contains(got.Text, test.hasNot) {
				t.Errorf("got %+v", got)
			}
		})
	}
	var same difference
	if c.call("diff", arguments{"a": "talk", "b": "talk"}, &same); same.Text != "" || same.Next != 0 {
		t.Errorf("a session and itself: %+v", same)
	}
	c.refuses("diff", arguments{"a": "talk~2"}, `snapshot "talk~3": not found: the oldest one`)
	c.refuses("diff", arguments{"a": "talk#1"}, "name another one as b")
	c.refuses("diff", arguments{"a": "talk", "b": "none"}, "not found")
	c.refuses("diff", arguments{"a": "talk", "b": "talk#"}, "is not a number")
	c.refuses("diff", arguments{"a": "talk", "offset": 1 << 40}, "is not in the text")

	for i := range 3 {
		c.Appended("long", strings.Repeat(fmt.Sprintf("ü line %d\n", i), 6000))
	}
	var whole strings.Builder
	for next, parts := 0, 0; parts == 0 || next > 0; parts++ {
		if parts == 8 {
			t.Fatal("there is no end")
		}
		var got difference
		c.call("diff", arguments{"a": "long~2", "b": "long", "offset": next}, &got)
		if whole.WriteString(got.Text); got.Next != 0 && got.Next != whole.Len() {
			t.Errorf("the part ends at %d, and goes on at %d", whole.Len(), got.Next)
		}
		next = got.Next
	}
	if n := strings.Count(whole.String(), "\n+ü line 1"); n != 6000 {
		t.Errorf("the parts have %d added lines, expected 6000", n)
	}
}

func TestSearch(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("birds", "a cuckoo and a heron")
	c.Appended("birds", "a cuckoo again")
	day := c.Now.Local().Format(time.DateOnly) // days are those of the machine's time zone
	c.ImportFile(c.WriteFile("fish.md", "---\ntags: [water]\n---\n\n## user\n\na heron eats fish\n\n## assistant\n\n```msg-metadata\n{\"model\": \"m-1\"}\n```\n\ncuckoo? no\n\n```tool-call\n{\"resource\": \"notes\", \"tool\": \"read\", \"arguments\": {\"path\": \"lake/carp.txt\"}}\n```\n"))
	for name, test := range map[string]struct {
		args arguments
		hits string // messages, sorted
		more bool
	}{
		"word":            {arguments{"query": "cuckoo"}, "birds#0 birds#1 fish#1", false},
		"two words":       {arguments{"query": "cuckoo heron"}, "birds#0", false},
		"not":             {arguments{"query": "heron NOT cuckoo"}, "fish#0", false},
		"fixed":           {arguments{"query": "a cuckoo", "kind": "fixed"}, "birds#0 birds#1", false},
		"regexp":          {arguments{"query": "^a (cuckoo a|heron)", "kind": "regexp"}, "birds#0 birds#1 fish#0", false},
		"words, named":    {arguments{"query": "fish", "kind": "words"}, "fish#0", false},
		"role":            {arguments{"query": "cuckoo", "role": "assistant"}, "fish#1", false},
		"model":           {arguments{"query": "cuckoo", "model": "m-*"}, "fish#1", false},
		"tool":            {arguments{"query": "cuckoo", "tool": "read"}, "fish#1", false},
		"path":            {arguments{"query": "cuckoo", "path": "carp.txt"}, "fish#1", false},
		"session":         {arguments{"query": "cuckoo", "session": "b*"}, "birds#0 birds#1", false},
		"tag":             {arguments{"query": "cuckoo", "tag": "water"}, "fish#1", false},
		"session by none": {arguments{"query": "cuckoo", "session": "x"}, "", false},
		"since":           {arguments{"query": "cuckoo", "since": "1h"}, "", false},
		"until":           {arguments{"query": "cuckoo", "until": "2023-11-13"}, "", false},
		"a day":           {arguments{"query": "cuckoo", "session": "birds", "since": day, "until": day}, "birds#0 birds#1", false},
		"exactly as many": {arguments{"query": "cuckoo", "session": "birds", "count": 2}, "birds#0 birds#1", false},
		"more":            {arguments{"query": "cuckoo", "kind": "fixed", "session": "birds", "count": 1}, "birds#1", true},
		"the next page":   {arguments{"query": "cuckoo", "kind": "fixed", "session": "birds", "count": 1, "from": 1}, "birds#0", false},
		"after the last":  {arguments{"query": "cuckoo", "from": 9}, "", false},
		"nothing":         {arguments{"query": "eagle"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var got matches
			r := c.call("search", test.args, &got)
			var hits []string
			for i, m := range got.Matches {
				hits = append(hits, fmt.Sprintf("%s#%d", m.Session, m.Index))
				if e, err := c.Store.Entry(t.Context(), c.Tip(m.Session).ID, m.Index); m.Snapshot == "" && (err != nil || m.Message != e.ID.String()) {
					t.Errorf("match %d has the id %q, %v", i, m.Message, err)
				}
				link, ok := r.Content[i+1].(*sdk.ResourceLink)
				if want := fmt.Sprintf("domarkx:///sessions/%s/messages/%d", m.Session, m.Index); m.URI != want || !ok || link.URI != want || link.Name != hits[i] {
					t.Errorf("match %d has the URI %s and the link %+v", i, m.URI, r.Content[i+1])
				}
			}
			if sorted(hits) != test.hits || got.More != test.more || (got.Next == 1) != test.more {
				t.Errorf("got %+v", got)
			}
		})
	}
	for want, args := range map[string]arguments{
		"expected words, fixed or regexp":  {"query": "x", "kind": "glob"},
		"role":                             {"query": "x", "role": "king"},
		"missing closing":                  {"query": "(", "kind": "regexp"},
		`date "soon"`:                      {"query": "x", "since": "soon"},
		`date "late"`:                      {"query": "x", "until": "late"},
		"number of entries is negative":    {"query": "x", "count": -1},
		"glob":                             {"query": "x", "session": "["},
		`kind "fixed" searches for a text`: {"query": "++"},
		"expected 0 to 1000000":            {"query": "x", "from": 1 << 62},
	} {
		c.refuses("search", args, want)
	}
}

// TestSearchReplaced checks that a text that was replaced is found with history, by the snapshot that has it.
func TestSearchReplaced(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	old := c.Appended("talk", "the walrus")
	c.Saved("talk", old.ID, strings.Replace(c.Shown("talk"), "walrus", "seal", 1))
	var now, before matches
	c.call("search", arguments{"query": "walrus"}, &now)
	r := c.call("search", arguments{"query": "walrus", "history": true}, &before)
	if len(now.Matches) != 0 || len(before.Matches) != 1 || before.Matches[0].Snapshot != old.ID {
		t.Fatalf("now %+v, with history %+v", now, before)
	}
	if len(r.Content) != 1 {
		t.Errorf("the match links to the message that does not have it: %+v", r.Content[1])
	}
	var got messages
	c.call("read_messages", arguments{"session": "talk@" + before.Matches[0].Snapshot}, &got)
	if !strings.Contains(got.Messages[0].Text, "walrus") {
		t.Errorf("the snapshot has %q", got.Messages[0].Text)
	}
}
