package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/mcpserver"
)

// TestTools checks what clients learn about each tool: which arguments it needs and has, that all of
// them are described, and whether it changes something.
func TestTools(t *testing.T) {
	c := connect(enginetest.New(t), writing)
	offered, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*sdk.Tool{}
	for _, tool := range offered.Tools {
		got[tool.Name] = tool
	}
	for name, want := range map[string]struct {
		required, optional, result string // names, sorted
		writes                     bool
	}{
		"list_sessions": {"", "agent branch count from session tag", "next sessions total", false},
		"search":        {"query", "count from history kind model path role session since tag tool until", "matches more next", false},
		"read_messages": {"session", "count from offset", "messages next origin session snapshot total", false},
		"diff":          {"a", "b offset", "a b next text", false},
		"workspace_log": {"workspace", "count from", "next versions workspace", false},
		"read_file":     {"workspace", "index offset path version", "base64 bytes entries next path text type version workspace", false},
		"append":        {"session text", "new role", "messages session snapshot uri", true},
		"fork":          {"new session", "", "messages session snapshot uri", true},
	} {
		tool := got[name]
		if tool == nil {
			t.Errorf("%s is not offered", name)
			continue
		}
		delete(got, name)
		in, out := schemaOf(t, tool.InputSchema), schemaOf(t, tool.OutputSchema)
		if !in.closed() {
			t.Errorf("%s: other arguments are accepted", name)
		}
		var optional []string
		for argument, property := range in.Properties {
			if property.Description == "" {
				t.Errorf("%s: %s is not described", name, argument)
			}
			if !slices.Contains(in.Required, argument) {
				optional = append(optional, argument)
			}
		}
		if required := sorted(in.Required); required != want.required || sorted(optional) != want.optional {
			t.Errorf("%s: needs %q and has %q", name, required, sorted(optional))
		}
		var members []string
		for member := range out.Properties {
			members = append(members, member)
		}
		if sorted(members) != want.result {
			t.Errorf("%s: the result has %q, expected %q", name, sorted(members), want.result)
		}
		a := tool.Annotations
		if a.ReadOnlyHint == want.writes || a.IdempotentHint == want.writes || a.OpenWorldHint == nil || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", name, a)
		}
		if want.writes && (a.DestructiveHint == nil || *a.DestructiveHint) {
			t.Errorf("%s is said to destroy something", name)
		}
	}
	for name := range got {
		t.Errorf("%s is offered", name)
	}
	if r := c.InitializeResult(); r.ServerInfo.Name != "git-domarkx" || r.ServerInfo.Version != "v1" || !strings.Contains(r.Instructions, "recorded data") {
		t.Errorf("the server says %+v", r)
	}
}

type schema struct {
	Properties           map[string]struct{ Description string }
	Required             []string
	AdditionalProperties any
}

func (s schema) closed() bool {
	if allowed, ok := s.AdditionalProperties.(bool); ok {
		return !allowed
	}
	not, ok := s.AdditionalProperties.(map[string]any)
	return ok && not["not"] != nil
}

func schemaOf(t *testing.T, v any) (s schema) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sorted(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

func TestInvalidPattern(t *testing.T) {
	s := serverOf(enginetest.New(t))
	s.Pattern = "team/["
	if server, err := s.New(); server != nil || !errors.Is(err, domarkx.ErrInvalid) || !strings.Contains(err.Error(), `"team/["`) {
		t.Errorf("got %v", err)
	}
}

// TestHostileRequests sends what no good client would. Each is refused, and the server still answers.
func TestHostileRequests(t *testing.T) {
	c := connect(enginetest.New(t), writing)
	c.Appended("talk", "hello")
	for name, test := range map[string]struct {
		tool string
		args any
		want string
	}{
		"unknown tool":         {"remove", arguments{}, "remove"},
		"no arguments":         {"read_messages", arguments{}, "session"},
		"array":                {"read_messages", []string{"talk"}, ""},
		"text":                 {"read_messages", "talk", ""},
		"wrong type":           {"read_messages", arguments{"session": 1}, "session"},
		"null":                 {"read_messages", arguments{"session": nil}, "session"},
		"fraction":             {"read_messages", arguments{"session": "talk", "from": 1.5}, ""},
		"number beyond int":    {"read_messages", arguments{"session": "talk", "from": 1e300}, ""},
		"unknown argument":     {"read_messages", arguments{"session": "talk", "run": true}, "run"},
		"session as path":      {"read_messages", arguments{"session": "../../HEAD"}, "name"},
		"session as option":    {"read_messages", arguments{"session": "--all"}, "name"},
		"session with NUL":     {"read_messages", arguments{"session": "talk\x00"}, "name"},
		"empty session":        {"read_messages", arguments{"session": ""}, "missing"},
		"ref of Git":           {"read_messages", arguments{"session": "talk@HEAD"}, "HEAD"},
		"ancestor by caret":    {"read_messages", arguments{"session": "talk@" + strings.Repeat("0", 40) + "^"}, ""},
		"object of another":    {"read_messages", arguments{"session": "talk@" + strings.Repeat("0", 40)}, "not found"},
		"a pattern that is no": {"list_sessions", arguments{"session": "["}, "glob"},
		"least number":         {"list_sessions", arguments{"from": -1 << 62}, "there are 1 sessions"},
		"greatest number":      {"list_sessions", arguments{"from": 1<<62 + 1}, "there are 1 sessions"},
		"negative page":        {"workspace_log", arguments{"workspace": "talk", "count": -1}, "negative"},
		"nested pattern":       {"search", arguments{"query": strings.Repeat("(", 5000) + strings.Repeat(")", 5000), "kind": "regexp"}, ""},
		"huge name":            {"append", arguments{"session": strings.Repeat("a/", 5000) + "b", "text": "x", "new": true}, ""},
		"option as new name":   {"fork", arguments{"session": "talk", "new": "-f"}, "name"},
		"lock as new name":     {"fork", arguments{"session": "talk", "new": "a.lock"}, "name"},
	} {
		t.Run(name, func(t *testing.T) {
			c.T = t
			c.refuses(test.tool, test.args, test.want)
		})
	}
	c.T = t
	var got list
	if c.call("list_sessions", nil, &got); got.Total != 1 || got.Sessions[0].Session != "talk" {
		t.Errorf("afterwards there are %+v", got)
	}
}

// TestManyAtOnce checks that concurrent requests are answered one after another, each on its own.
func TestManyAtOnce(t *testing.T) {
	c := connect(enginetest.New(t), writing)
	c.Appended("talk", "hello")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := c.try("append", arguments{"session": "talk", "text": "more"}); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if _, err := c.try("read_messages", arguments{"session": "talk"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := c.Tip("talk").Messages; got != 9 {
		t.Errorf("there are %d messages, expected 9", got)
	}
	c.Fsck()
}

// TestCancelledRequests cancels one request in its middle, and one that waits for it. Neither has an effect.
func TestCancelledRequests(t *testing.T) {
	clone := enginetest.New(t)
	clone.Appended("talk", "hello")
	began := make(chan struct{}, 2)
	c := connect(clone, func(s *mcpserver.Server) {
		env := clone.Env
		env.Identity = func(ctx context.Context) (author, committer domarkx.Signature, err error) {
			began <- struct{}{}
			<-ctx.Done()
			return author, committer, ctx.Err()
		}
		s.Write, s.Turns = true, turns.New(clone.SessionManager, trust.New(clone.Store, env), clone.Store, env)
	})
	var both sync.WaitGroup
	request := func() (cancel func()) {
		ctx, cancel := context.WithCancel(t.Context())
		both.Go(func() {
			if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "append", Arguments: arguments{"session": "talk", "text": "more"}}); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		return cancel
	}
	cancelFirst := request()
	<-began
	request()() // the server cancels them concurrently: the first may end before this one, which then begins, too
	cancelFirst()
	both.Wait()
	var got list
	if c.call("list_sessions", nil, &got); got.Sessions[0].Messages != 1 {
		t.Errorf("there are %d messages", got.Sessions[0].Messages)
	}
}

// TestDamagedSession checks that a session that cannot be read does not hide the others.
func TestDamagedSession(t *testing.T) {
	c := connect(enginetest.New(t), nil)
	c.Appended("good", "a whole word")
	c.WriteFile(".git/refs/domarkx/sessions/bad", strings.Repeat("1", 40)+"\n") // no such object
	var got list
	c.call("list_sessions", nil, &got)
	if len(got.Sessions) != 1 || got.Sessions[0].Session != "good" {
		t.Errorf("got %+v", got)
	}
	if len(c.warnings) == 0 || !strings.Contains(c.warnings[0].Error(), "bad") {
		t.Errorf("the warnings are %v", c.warnings)
	}
	c.refuses("read_messages", arguments{"session": "bad"}, "bad")
	var found matches
	if c.call("search", arguments{"query": "whole"}, &found); len(found.Matches) != 1 {
		t.Errorf("found %+v", found)
	}
}
