package zeus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

const piSession = `{"type":"session","version":3,"id":"x","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/"}` + "\n"

// A desktop is a home directory with a tmux server of its own.
type desktop struct {
	*testing.T
	home      string
	env       map[string]string
	terminals *zeus.Terminals
}

// newDesktop returns a desktop whose agents write their environment and arguments to
// HOME/started and then wait.
func newDesktop(t *testing.T) *desktop {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("the test needs tmux")
	}
	home := t.TempDir()
	d := &desktop{T: t, home: home, env: map[string]string{"HOME": home}}
	d.write("bin/agent", "#!/bin/sh\n{ env | grep ^ZEUS_ | sort; pwd; for a; do printf '<%s>' \"$a\"; done; } >\""+home+
		"/started/$ZEUS_AGENT_ID.new\"; mv \""+home+"/started/$ZEUS_AGENT_ID.new\" \""+home+"/started/$ZEUS_AGENT_ID\"; exec sleep 1000\n", 0o777)
	d.mkdir("started")
	socket := filepath.Join(home, "tmux")
	d.terminals = &zeus.Terminals{Tmux: []string{"-S", socket, "-f", "/dev/null"}, Kitty: []string{}, Now: time.Now,
		StateDirs: []string{filepath.Join(home, "state")}, Agent: filepath.Join(home, "bin/agent"),
		Getenv: func(name string) string { return d.env[name] }}
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("TMUX", "")
	t.Cleanup(func() {
		exec.Command("tmux", "-S", socket, "kill-server").Run()
	})
	return d
}

func (d *desktop) path(name string) string { return filepath.Join(d.home, name) }

func (d *desktop) write(name, text string, mode os.FileMode) string {
	d.Helper()
	write(d.T, d.path(name), text, mode)
	return d.path(name)
}

func (d *desktop) mkdir(name string) string {
	d.Helper()
	if err := os.MkdirAll(d.path(name), 0o777); err != nil {
		d.Fatal(err)
	}
	return d.path(name)
}

// started waits until the agent with this id runs, and returns its output.
func (d *desktop) started(id string) string {
	d.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		data, err := os.ReadFile(d.path("started/" + id))
		if err == nil {
			return string(data)
		}
		if time.Now().After(deadline) {
			d.Fatalf("agent %s has not started: %v", id, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (d *desktop) discover() zeus.Live {
	d.Helper()
	live, err := d.terminals.Discover(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	return live
}

// restore restores entries and returns one line for each: status and detail.
func (d *desktop) restore(request zeus.RestoreRequest) (outcomes []string) {
	d.Helper()
	rows, warnings, err := d.terminals.Restore(d.Context(), request)
	if err != nil {
		d.Fatal(err)
	}
	for _, row := range rows {
		outcomes = append(outcomes, fmt.Sprintf("%s %s %s", row.ID, row.Status, row.Detail))
	}
	for _, w := range warnings {
		outcomes = append(outcomes, "warning: "+w.Error())
	}
	return outcomes
}

func (d *desktop) expect(got []string, want ...string) {
	d.Helper()
	for i, line := range got {
		got[i] = strings.ReplaceAll(line, d.home, "~")
	}
	if !slices.Equal(got, want) {
		d.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (d *desktop) stygian(id, session string) zeus.Entry {
	return zeus.Entry{Kind: zeusformat.Stygian, ID: id, Role: "hippeus", Directory: d.home, Session: session,
		Path: d.write("sessions/"+id+".jsonl", piSession, 0o666)}
}

// TestTmux starts agents in tmux, finds them, saves them and closes them.
func TestTmux(t *testing.T) {
	d := newDesktop(t)
	if live := d.discover(); len(live.Agents) > 0 {
		t.Errorf("without a server: %+v", live.Agents)
	}
	one := d.stygian("one", "st $(touch pwned) #{pid}")
	one.Name = `a;"b" #(touch pwned);`
	two := d.stygian("two", "hop")
	two.Kind, two.Role, two.Owner, two.Phalanx = zeusformat.Hoplite, "hoplite", "one", "ph"
	stray := two
	stray.ID, stray.Session, stray.Owner = "three", "stray", "nobody"
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{one, two, stray}, IfRunning: zeus.IfRunningError}),
		`one restored in the tmux session "st $(touch pwned) #{pid}"`, `two restored in the tmux session "hop"`, `three restored in the tmux session "stray"`)
	d.expect(strings.Split(d.started("one"), "\n"), "ZEUS_AGENT_ID=one", "ZEUS_AGENT_NAME="+one.Name, "ZEUS_ROLE=hippeus",
		"ZEUS_SESSION_PATH=~/sessions/one.jsonl", "~", "<--session><~/sessions/one.jsonl>")
	d.expect(strings.Split(d.started("two"), "\n"), "ZEUS_AGENT_ID=two", "ZEUS_AGENT_NAME=hop", "ZEUS_PARENT_ID=one", "ZEUS_PHALANX_ID=ph", "ZEUS_ROLE=hoplite",
		"ZEUS_SESSION_PATH=~/sessions/two.jsonl", "~", "<--session><~/sessions/two.jsonl>")
	if _, err := os.Stat(d.path("pwned")); err == nil {
		t.Error("text of a snapshot was run")
	}

	live := d.discover()
	var found []string
	for _, a := range live.Agents {
		found = append(found, fmt.Sprintf("%s %s %q %s %v", a.Kind, a.ID, a.Name, a.Directory, a.Working))
	}
	d.expect(found, `stygian one "a;\"b\" #(touch pwned);" ~ false`, `hoplite two "hop" ~ false`) // not that of an unknown owner
	snapshot, rows, err := d.terminals.Snapshot(live, "host", time.Unix(0, 0))
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	for _, part := range []string{`"tmux_session": "st $(touch pwned) #{pid}"`, `"session_source": "env"`, `"session_source": "tmux-option"`, `"owner_id": "one"`} {
		if !strings.Contains(string(snapshot), part) {
			t.Errorf("the snapshot has no %s: %s", part, snapshot)
		}
	}
	for _, a := range live.Agents {
		if err := d.terminals.Close(t.Context(), a); err != nil {
			t.Error(err)
		}
	}
	if live := d.discover(); len(live.Agents) > 0 {
		t.Errorf("after they were closed: %+v", live.Agents)
	}
}

// TestWorking recognises the spinner that pi shows while it works.
func TestWorking(t *testing.T) {
	d := newDesktop(t)
	d.write("bin/agent", "#!/bin/sh\nprintf 'x\\n  ⠙ Working...\\n'; >"+d.home+"/started/$ZEUS_AGENT_ID; exec sleep 1000\n", 0o777)
	d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{d.stygian("busy", "s")}})
	d.started("busy")
	for deadline := time.Now().Add(20 * time.Second); ; {
		if live := d.discover(); len(live.Agents) == 1 && live.Agents[0].Working {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the agent does not count as working")
		}
	}
}

// TestPolicies restores agents that run already.
func TestPolicies(t *testing.T) {
	d := newDesktop(t)
	a, b := d.stygian("a", "sa"), d.stygian("b", "sb")
	d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{a}})
	d.started("a")

	rows, _, err := d.terminals.Restore(t.Context(), zeus.RestoreRequest{Entries: []zeus.Entry{a, b}, IfRunning: zeus.IfRunningError})
	var conflict *zeus.ConflictError
	if !errors.As(err, &conflict) || !slices.Equal(conflict.IDs, []string{"a"}) || rows[0].Status != zeus.Failed || rows[1].Status != zeus.Skipped {
		t.Errorf("error: %v, %+v", err, rows)
	}
	other := b
	other.Session = "sa"
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{a, other, b}, IfRunning: zeus.IfRunningSkip}),
		"a skipped runs already", `b skipped there is a tmux session "sa" already`, `b restored in the tmux session "sb"`)
	d.started("b")

	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{{Kind: zeusformat.Stygian, ID: "c", Directory: d.home, Path: a.Path, Session: "sa"}}, IfRunning: zeus.IfRunningError}),
		`c failed there is a tmux session "sa" already`)

	if err := os.Remove(d.path("started/a")); err != nil {
		t.Fatal(err)
	}
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{a}, IfRunning: zeus.IfRunningReplace}), `a restored in the tmux session "sa"`)
	d.started("a")
	if live := d.discover(); len(live.Agents) != 2 {
		t.Errorf("after replace: %+v", live.Agents)
	}
	// An agent that cannot be restored is not closed before.
	gone := a
	gone.Path = d.path("missing.jsonl")
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{gone}, IfRunning: zeus.IfRunningReplace}),
		"a failed the file of its session is missing: ~/missing.jsonl")
	if live := d.discover(); len(live.Agents) != 2 {
		t.Errorf("after a failed replace: %+v", live.Agents)
	}
}

// TestEntriesThatCannotBeRestored checks that each failure is reported in its row and
// starts nothing.
func TestEntriesThatCannotBeRestored(t *testing.T) {
	d := newDesktop(t)
	change := func(f func(*zeus.Entry)) zeus.Entry {
		e := d.stygian("e", "s")
		f(&e)
		return e
	}
	for want, e := range map[string]zeus.Entry{
		"e failed the snapshot has no cwd for it":                                  change(func(e *zeus.Entry) { e.Directory = "" }),
		"e failed the snapshot has no session_path for it":                         change(func(e *zeus.Entry) { e.Path = "" }),
		" failed the snapshot has no agent_id for it":                              change(func(e *zeus.Entry) { e.ID = "" }),
		`e failed "a\x00b" cannot be given to a program`:                           change(func(e *zeus.Entry) { e.Name = "a\x00b" }),
		"e failed the snapshot has no name for it":                                 change(func(e *zeus.Entry) { e.Kind = zeusformat.Kitty }),
		`e failed tmux session "a:b": a session of tmux cannot be given this name`: change(func(e *zeus.Entry) { e.Session = "a:b" }),
		`e failed tmux session "": a session of tmux cannot be given this name`:    change(func(e *zeus.Entry) { e.Session = "" }),
		`e failed the path of its session, "x/y.jsonl", is not absolute`:           change(func(e *zeus.Entry) { e.Path = "x/y.jsonl" }),
	} {
		d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{e}}), want)
	}
	if live := d.discover(); len(live.Agents) > 0 {
		t.Errorf("started: %+v", live.Agents)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.terminals.Discover(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestMissingDirectory starts an agent in the home directory if its own no longer exists.
func TestMissingDirectory(t *testing.T) {
	d := newDesktop(t)
	e := d.stygian("e", "s")
	e.Directory = d.path("gone")
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{e}}),
		`e restored in the tmux session "s"`, `warning: s: its directory "~/gone" does not exist; it was started in "~"`)
	d.started("e")
	d.env["HOME"] = d.path("nowhere")
	f := d.stygian("f", "sf")
	f.Directory = d.path("gone")
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{f}}),
		`f failed its directory "~/gone" does not exist, and neither does the home directory "~/nowhere"`)
}
