package observe_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// An agent works in a work tree and writes a transcript, which is imported after each line like a watcher does.
type agent struct {
	*desk
	clone *enginetest.Clone
	id    string
	path  string // of the transcript
	last  string // the uuid of the last line
	lines int
	name  string        // of the session, once it is imported
	clock time.Time     // of the lines and of the versions
	step  time.Duration // by which each is later

	meanwhile func() // what another process does between a hook's reading and its update
}

func (d *desk) agent(t *testing.T, n int) *agent {
	t.Helper()
	id := fmt.Sprintf("5e550000-0000-4000-8000-00000000000%d", n)
	c := enginetest.Open(t, d.top, &enginetest.Settings{Values: map[string][]string{}})
	a := &agent{clone: c, id: id, path: filepath.Join(t.TempDir(), id+".jsonl"), clock: time.Now().Add(-40 * time.Second), step: 2 * time.Second, meanwhile: func() {}}
	env := c.Env
	env.Identity = func(context.Context) (author, committer domarkx.Signature, err error) {
		a.meanwhile()
		who := domarkx.Signature{Name: "Ann", Email: "ann@example.org", When: a.clock}
		return who, who, nil
	}
	a.desk = &desk{t: d.t, top: d.top, store: c.Store, m: observe.New(c.Updates, c.Store, c.Store.Git(), env, "boot", func() ([]string, error) { return nil, nil })}
	return a
}

// says adds a line to the transcript, imports it, and reports that as recorded.
func (a *agent) says(kind, message string) {
	a.t.Helper()
	a.write1(kind, message)
	a.record()
}

func (a *agent) write1(kind, message string) {
	a.t.Helper()
	parent := "null"
	if a.last != "" {
		parent = `"` + a.last + `"`
	}
	a.lines++
	a.clock = a.clock.Add(a.step)
	a.last = fmt.Sprintf("%08d-0000-4000-8000-%s", a.lines, a.id[24:])
	line := fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":%q,"cwd":%q,"version":"2.1.0","timestamp":%q,"message":%s}`+"\n",
		parent, kind, a.last, a.id, a.top, a.clock.UTC().Format("2006-01-02T15:04:05.000Z"), message)
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) record() {
	a.t.Helper()
	saved := a.clone.ImportOne(importer.Request{Paths: []string{a.path}})
	a.name = saved.Name
	if err := a.m.Recorded(context.Background(), a.name, observe.Moment{Path: a.path, Time: time.Now()}, all.Codecs()); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) user(text string) {
	a.t.Helper()
	a.says("user", fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

func (a *agent) answers(text string) {
	a.t.Helper()
	a.says("assistant", a.answer("end_turn", fmt.Sprintf(`{"type":"text","text":%q}`, text)))
}

func (a *agent) calls(ids ...string) {
	a.t.Helper()
	var blocks []string
	for _, id := range ids {
		blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"make"}}`, id))
	}
	a.says("assistant", a.answer("tool_use", strings.Join(blocks, ",")))
}

func (a *agent) result(id string) {
	a.t.Helper()
	a.says("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"ok"}]}`, id))
}

func (a *agent) answer(reason, blocks string) string {
	return fmt.Sprintf(`{"id":"msg_%d","type":"message","role":"assistant","model":"m","stop_reason":%q,"content":[%s]}`, a.lines, reason, blocks)
}

// hook reports an event of the agent.
func (a *agent) hook(kind string, calls ...string) domarkx.Version {
	a.t.Helper()
	a.clock = a.clock.Add(a.step)
	v, err := a.m.Take(context.Background(), observe.Moment{Kind: kind, Agent: "claude-code", ID: a.id, Path: a.path, Dir: a.top, Calls: calls, Time: time.Now()})
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

// linked returns the content of the file "f" in the version of each message, "-" if it has no link.
func (a *agent) linked() string {
	a.t.Helper()
	ctx := context.Background()
	tip, err := a.store.Tip(ctx, a.name)
	if err != nil {
		a.t.Fatal(err)
	}
	var list []string
	for e, err := range a.store.Entries(ctx, tip.ID) {
		if err != nil {
			a.t.Fatal(err)
		}
		content := "-"
		if e.Link != "" {
			content = a.clone.File(a.clone.T, e.Link, "f")
		}
		list = append(list, content)
	}
	return strings.Join(list, " ")
}

func (a *agent) expect(when, want string) {
	a.t.Helper()
	if got := a.linked(); got != want {
		a.t.Errorf("%s: the messages are linked to %q, want %q", when, got, want)
	}
}

// TestLinksByHooks links messages to the versions that an agent's hooks reported.
func TestLinksByHooks(t *testing.T) {
	d := newDesk(t)
	d.write("f", "0")
	a := d.agent(t, 1)
	a.hook(events.Prompt)
	a.user("Go on.")
	a.expect("a prompt", "0")
	a.calls("c1", "c2")
	d.write("f", "1")
	a.hook(events.Batch, "c1", "c2")
	a.result("c1")
	a.result("c2")
	a.expect("calls", "0 1")
	a.calls("c3") // which change nothing
	a.hook(events.Batch, "c3")
	a.result("c3")
	a.answers("Done.")
	a.hook(events.Turn)
	a.record()
	a.expect("the end of the turn", "0 1 1 1")
	d.write("f", "by hand")
	a.hook(events.Prompt)
	a.user("More.")
	a.answers("No.")
	a.hook(events.Turn)
	a.record()
	a.expect("a change by hand", "0 1 1 1 by hand by hand")
	before, err := d.store.Tip(t.Context(), a.name)
	if err != nil {
		t.Fatal(err)
	}
	a.record()
	if after, err := d.store.Tip(t.Context(), a.name); err != nil || after.ID != before.ID {
		t.Errorf("recorded again: %+v, %v", after, err)
	}
	exported, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.export(); got != string(exported) {
		t.Errorf("with links it is exported as\n%s", got)
	}
	git(t, d.top, "fsck", "--strict")
}

// TestLinksWaitForTheirMessages reports versions before the messages with their calls are recorded: none of them is linked
// to an earlier message.
func TestLinksWaitForTheirMessages(t *testing.T) {
	for _, step := range []time.Duration{2 * time.Second, 0} {
		t.Run(step.String(), func(t *testing.T) {
			d := newDesk(t)
			d.write("f", "0")
			a := d.agent(t, 1)
			a.step = step
			a.hook(events.Prompt)
			a.user("Go on.")
			a.calls("c1")
			d.write("f", "1")
			a.hook(events.Batch, "c1")
			a.result("c1")
			d.write("f", "2")
			a.hook(events.Batch, "c2")
			d.write("f", "3")
			a.hook(events.Turn)
			a.record()
			a.expect("before their messages", "0 1")
			waiting := func(want bool) {
				t.Helper()
				if got, err := a.m.Waiting(t.Context(), a.name, a.name); got != want || err != nil {
					t.Errorf("waiting: %v, %v, expected %v", got, err, want)
				}
			}
			waiting(true)
			a.clock = a.clock.Add(-3 * step)
			a.calls("c2")
			a.clock = a.clock.Add(2 * step)
			a.answers("Done.")
			a.record()
			a.expect("with their messages", "0 1 2 3")
			waiting(false)
		})
	}
}

func (a *agent) export() string {
	a.t.Helper()
	return exported(a.t, a.clone, a.name)
}

// TestLinksWithoutHooks takes versions at the ends of turns that only the transcript shows.
func TestLinksWithoutHooks(t *testing.T) {
	d := newDesk(t)
	d.write("f", "0")
	a := d.agent(t, 1)
	a.user("Go on.")
	a.expect("a prompt", "0")
	d.write("f", "1")
	a.calls("c1")
	a.expect("in the middle of a turn", "0 -")
	a.result("c1")
	a.expect("after a result", "0 -")
	d.write("f", "2")
	a.answers("Done.")
	if got := a.linked(); !strings.HasPrefix(got, "0 ") || !strings.HasSuffix(got, " 2") {
		t.Errorf("at the end of the turn: %q", got)
	}
	if tips := d.workspaces(); len(tips) != 1 || tips[0].Workspace != a.name {
		t.Errorf("workspaces: %+v", tips)
	}
}

// TestNotObserved records sessions whose work tree does not count: an old transcript, another directory, and a session
// that no agent wrote.
func TestNotObserved(t *testing.T) {
	d := newDesk(t)
	d.write("f", "0")
	elsewhere := d.agent(t, 1)
	elsewhere.desk = &desk{t: d.t, top: t.TempDir(), store: d.store, m: d.m}
	elsewhere.user("Go on.")
	if tips := d.workspaces(); len(tips) > 0 {
		t.Errorf("an agent elsewhere: %+v", tips)
	}
	own := enginetest.Open(t, d.top, &enginetest.Settings{})
	own.Settings.Values = map[string][]string{}
	own.Appended("own", "Hello.")
	own.Saved("forged", "", "---\nagent: claude-code\ncwd: "+d.top+"\n---\n\n## user\n\nhi\n")
	for _, name := range []string{"own", "forged"} {
		if err := d.m.Recorded(t.Context(), name, observe.Moment{Time: time.Now()}, all.Codecs()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.m.Recorded(t.Context(), "none", observe.Moment{}, all.Codecs()); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	if tips := d.workspaces(); len(tips) > 0 {
		t.Errorf("sessions of no agent: %+v", tips)
	}
}

// TestRewindWhileBusy refuses to take a work tree back while an agent works there.
func TestRewindWhileBusy(t *testing.T) {
	d := newDesk(t)
	d.write("f", "0")
	taken := d.take(events.Prompt, "1", d.top)
	first, err := d.store.Version(t.Context(), taken.ID)
	if err != nil {
		t.Fatal(err)
	}
	first.Workspace = taken.Workspace
	d.write("f", "1")
	rewind := func(force bool) error {
		_, err := d.m.Rewind(t.Context(), backTo{d, first}, revision(first.Workspace), first.Workspace, force)
		return err
	}
	var busy *observe.BusyError
	if err := rewind(false); !errors.As(err, &busy) || !busy.Open || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("in a turn: %v", err)
	}
	d.take(events.Turn, "1", d.top)
	if err := rewind(false); !errors.As(err, &busy) || busy.Open || !strings.Contains(err.Error(), "--yes") {
		t.Errorf("after a turn: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(d.top, "f")); err != nil || string(data) != "1" {
		t.Errorf("a refused rewind changed the file to %q, %v", data, err)
	}
	if err := rewind(true); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(d.top, "f")); err != nil || string(data) != "0" {
		t.Errorf("rewound to %q, %v", data, err)
	}
	for workspace, want := range map[string]bool{first.Workspace: true, "none": false} {
		if got, err := d.m.Observes(t.Context(), workspace); got != want || err != nil {
			t.Errorf("%s is observed: %t, %v", workspace, got, err)
		}
	}
}

func revision(workspace string) engine.Revision { return engine.Revision{Name: workspace, Message: 0} }

func exported(t testing.TB, c *enginetest.Clone, name string) string {
	t.Helper()
	e, err := c.Export(context.Background(), engine.ExportRequest{Revision: engine.Revision{Name: name, Message: -1}, Format: "claude-code"})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
