package chat_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/filesystem"
)

func TestMain(m *testing.M) {
	for key, value := range map[string]string{"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", "TZ": "UTC"} {
		os.Setenv(key, value)
	}
	os.Exit(shorttest.Main(m))
}

type (
	trustManager  = trust.Manager
	turnsManager  = turns.Manager
	importManager = importer.Manager
)

// A site is a repository with a scripted model.
type site struct {
	*engine.SessionManager
	*trustManager
	*turnsManager
	*importManager
	t     testing.TB
	git   *gitcmd.Git
	store *gitstore.Store
	now   time.Time
	model *model
	chat  *chat.Chat

	mu      sync.Mutex
	events  []chat.Event
	approve trust.Calls
	limits  chat.Limits
	more    func(context.Context, string) (bool, error)
	context int64
	price   *prices.Price
	onEvent func(chat.Event)
}

type versions struct{ *gitstore.Store }

func (v versions) Begin(ctx context.Context, base string) (plugins.Pending, error) {
	return v.BeginVersion(ctx, base)
}

const config = "```workspace-config\nresources:\n  - type: filesystem\n    id: files\n```\n"

func newSite(t testing.TB, script ...reply) *site {
	t.Helper()
	dir := t.TempDir()
	enginetest.Init(t, dir)
	return openSite(t, dir, script...)
}

func openSite(t testing.TB, dir string, script ...reply) *site {
	t.Helper()
	s := &site{t: t, now: time.Unix(1_700_000_000, 0).UTC(), approve: trust.Calls{All: true},
		model: &model{script: script, origin: provider.Origin{Provider: "anthropic", Host: "api.example.org", Model: "m-1"}}}
	git, err := gitcmd.Discover(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.store, err = gitstore.Open(t.Context(), git); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.store.Close() })
	s.git = git
	env := local.Environment{StateDir: git.StateDir(), WorkTree: git.WorkTree,
		Identity: func(context.Context) (a, b domarkx.Signature, err error) {
			s.now = s.now.Add(time.Second)
			who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: s.now}
			return who, who, nil
		},
		Workspaces: plugins.New([]domarkx.Plugin{filesystem.Plugin{}}, versions{s.store},
			plugins.Config{Dir: filepath.Join(git.StateDir(), "workspaces"), WorkTree: git.WorkTree, Grace: time.Second}),
		Local: local.NewFile(git)}
	s.SessionManager, s.trustManager = engine.New(s.store, all.Codecs(), env, enginetest.NoRedactor{}), trust.New(s.store, env)
	s.turnsManager = turns.New(s.SessionManager, s.trustManager, s.store, env)
	s.importManager = importer.New(s.SessionManager, s.store, env)
	s.chat = chat.New(s.turnsManager, s.store, git.StateDir())
	return s
}

// session imports and trusts a session with a workspace.
func (s *site) session(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name+".md")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.Import(s.t.Context(), importer.Request{Paths: []string{path}}); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Trust(s.t.Context(), s.tip(name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) tip(name string) domarkx.Info {
	s.t.Helper()
	info, err := s.store.Tip(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	info.Name = name
	return info
}

func (s *site) show(name string) string {
	s.t.Helper()
	var b bytes.Buffer
	if err := s.Write(s.t.Context(), s.tip(name).ID, engine.Markdown, &b); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

func (s *site) message(name string, k int) (domarkx.Entry, domarkx.Message) {
	s.t.Helper()
	e, err := s.store.Entry(s.t.Context(), s.tip(name).ID, k)
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := view.LoadMessage(s.t.Context(), s.store, e)
	if err != nil {
		s.t.Fatal(err)
	}
	return e, m
}

// turn takes a turn; an empty text continues one.
func (s *site) turn(ctx context.Context, name, text string) (chat.Result, error) {
	s.t.Helper()
	r := chat.Request{Session: name, Approve: s.approve, Limits: s.limits, More: s.more,
		Model: chat.Model{Wire: s.model, Context: s.context, Price: s.price},
		Emit: func(e chat.Event) {
			s.mu.Lock()
			s.events = append(s.events, e)
			s.mu.Unlock()
			if s.onEvent != nil {
				s.onEvent(e)
			}
		}}
	if text != "" {
		r.Text = &text
	}
	return s.chat.Turn(ctx, r)
}

func (s *site) must(name, text string) chat.Result {
	s.t.Helper()
	result, err := s.turn(s.t.Context(), name, text)
	if err != nil {
		s.t.Fatal(err)
	}
	return result
}

func (s *site) notices() string {
	var all []string
	for _, e := range s.events {
		if n, ok := e.(provider.Notice); ok {
			all = append(all, string(n))
		}
	}
	return strings.Join(all, "\n")
}

// A reply is what the scripted model does with one request.
type reply struct {
	answer provider.Answer
	err    error
	before func(ctx context.Context, r provider.Request) // runs before the answer
	after  func(ctx context.Context)                     // runs after its pieces were sent
}

func says(parts ...provider.Part) reply {
	return reply{answer: provider.Answer{Model: "m-1-2026", Parts: parts, Usage: provider.Usage{Input: 10, CacheRead: 3, Output: 5}}}
}

func say(text string) reply { return says(provider.Text{Text: text}) }

func callsTool(name, arguments string) reply {
	return says(provider.Text{Text: "I call it."}, provider.Call{ID: "toolu_1", Name: name, Arguments: arguments})
}

// A model answers from a script.
type model struct {
	origin   provider.Origin
	script   []reply
	requests []provider.Request
	answers  []provider.Answer
}

func (m *model) Origin() provider.Origin { return m.origin }

// Parts returns those of the answer that had these items.
func (m *model) Parts(items [][]byte) ([]provider.Part, error) {
	for _, a := range m.answers {
		if a.Raw != nil && slices.EqualFunc(a.Raw.Items, items, bytes.Equal) {
			return a.Parts, nil
		}
	}
	return nil, fmt.Errorf("items of no answer: %q", items)
}

func (m *model) Stream(ctx context.Context, r provider.Request, emit func(provider.Event)) (provider.Answer, error) {
	m.requests = append(m.requests, r)
	if len(m.script) == 0 {
		return provider.Answer{}, &provider.Error{Kind: provider.ErrServer, Message: "the script ended"}
	}
	next := m.script[0]
	m.answers = append(m.answers, next.answer)
	m.script = m.script[1:]
	if next.before != nil {
		next.before(ctx, r)
	}
	for _, p := range next.answer.Parts {
		switch p := p.(type) {
		case provider.Text:
			runes := []rune(p.Text)
			size := 5
			if len(runes) > 1<<20 {
				size = 1000
			}
			for piece := range slices.Chunk(runes, size) {
				emit(provider.TextDelta(string(piece)))
			}
		case provider.Thought:
			emit(provider.ThoughtDelta(p.Text))
		case provider.Call:
			emit(p)
		}
	}
	if next.after != nil {
		next.after(ctx)
	}
	if err := ctx.Err(); err != nil {
		return next.answer, context.Cause(ctx)
	}
	if next.err != nil {
		return next.answer, next.err
	}
	a := next.answer
	a.Stop = provider.StopEnd
	if len(a.Calls()) > 0 {
		a.Stop = provider.StopTools
	}
	return a, nil
}

// sent returns the parts of request n as text, a line each.
func (m *model) sent(n int) string {
	var b strings.Builder
	for _, msg := range m.requests[n].Messages {
		for _, p := range msg.Parts {
			b.WriteString(string(msg.Role) + " ")
			switch p := p.(type) {
			case provider.Text:
				b.WriteString("text " + p.Text)
			case provider.Thought:
				b.WriteString("thought " + p.Text)
			case provider.Call:
				b.WriteString("call " + p.Name + " " + p.Arguments)
			case provider.Result:
				b.WriteString("result " + p.Text)
			case provider.Image:
				b.WriteString("image " + p.MediaType)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// journal returns the path of the journal of a session.
func (s *site) journal(name string) string {
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(s.git.StateDir(), "turns", hex.EncodeToString(sum[:16])+".stream")
}

func (s *site) rewind(name string, k int) {
	s.t.Helper()
	if _, err := s.Rewind(s.t.Context(), engine.Revision{Name: name, Message: k}); err != nil {
		s.t.Fatal(err)
	}
}

// asking allows every call, after it called a function.
func asking(f func()) trust.Calls {
	return trust.Calls{Ask: func(context.Context, string, string) (trust.Decision, error) {
		f()
		return trust.Allow, nil
	}}
}

// dir returns the directory of the repository.
func (s *site) dir() string { return filepath.Dir(s.git.StateDir()) }
