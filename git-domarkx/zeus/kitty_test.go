package zeus_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

// TestWindows finds agents in windows without Zeus's variables: Zeus has noted the
// window's number, and the window runs pi.
func TestWindows(t *testing.T) {
	home := t.TempDir()
	in := func(name string) string { return filepath.Join(home, name) }
	for _, name := range []string{"a.jsonl", "b c.jsonl", "c.jsonl", "d.jsonl"} {
		write(t, in(name), `{"type":"session","id":"x"}`+"\n", 0o666)
	}
	window := func(id int, env, cmdline, title string) string {
		return fmt.Sprintf(`{"id":%d,"pid":1,"cwd":"/w%[1]d","title":"%[4]s","env":{"PATH":"/bin"%[2]s},"cmdline":[%[3]s]}`, id, env, cmdline, title)
	}
	write(t, in("ls.json"), `[{"tabs":[{"windows":[`+strings.Join([]string{
		window(1, "", `"/usr/bin/pi","--session","`+in("a.jsonl")+`"`, "x"),
		window(2, "", `"zsh","-ilc","exec pi --session '`+in("b c.jsonl")+`'"`, "x"),
		window(3, "", `"bash"`, "π - repo"),
		window(4, "", `"bash"`, "a shell that has the number of a window that is gone"),
		window(5, "", `"pi"`, "not seen by Zeus"),
		window(6, `,"ZEUS_AGENT_NAME":"named","ZEUS_SESSION_PATH":"`+in("d.jsonl")+`"`, `"pi"`, "x"),
		window(7, `,"ZEUS_AGENT_NAME":"own","ZEUS_AGENT_ID":"own-id","ZEUS_SESSION_PATH":"/gone.jsonl"`, `"pi","--session=`+in("c.jsonl")+`"`, "x"),
	}, ",")+`]}]}]`, 0o666)
	key := in("kitty-1")
	write(t, in("state/zeus-agent-ids.json"), fmt.Sprintf(`{"%[1]s:1":"i1","%[1]s:2":"i2","%[1]s:3":"i3","%[1]s:4":"i4","%[1]s:6":" i6 ","%[1]s:7":"not this one","x":7}`, key), 0o666)
	write(t, in("state/zeus-names.json"), fmt.Sprintf(`{"%s:2":"renamed"}`, key), 0o666)
	write(t, in(".pi/agent/sessions/--w3--/1.jsonl"), "{}\n", 0o666)
	write(t, in("bin/kitty"), "#!/bin/sh\ncase \"$4\" in ls) exec /bin/cat '"+in("ls.json")+"' ;; esac\n", 0o777)
	t.Setenv("PATH", in("bin"))

	terminals := &zeus.Terminals{Kitty: []string{"unix:" + key}, StateDirs: []string{in("state")}, Now: time.Now,
		Getenv: func(name string) string { return map[string]string{"HOME": home}[name] }}
	live, err := terminals.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	snapshot, rows, err := terminals.Snapshot(live, "host", time.Unix(0, 0))
	if err != nil || snapshot == nil {
		t.Fatalf("%v: %+v", err, rows)
	}
	v, err := jsonvalue.ParseValue(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	entries, _ := v.Get("entries")
	var got []string
	for _, e := range entries.Items() {
		got = append(got, strings.Join([]string{transcript.Text(e, "agent_id"), transcript.Text(e, "name"), transcript.Text(e, "cwd"), transcript.Text(e, "session_source"),
			filepath.Base(transcript.Text(e, "session_path"))}, " "))
	}
	want := []string{"i1 pi-1 /w1 env a.jsonl", "i2 renamed /w2 env b c.jsonl", "i3 pi-3 /w3 cwd 1.jsonl", "i6 named /w6 env d.jsonl", "own-id own /w7 env c.jsonl"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// kitty puts a program in PATH that answers as a kitty with these windows does.
func (d *desktop) kitty(windows ...string) {
	d.Helper()
	d.write("ls.json", `[{"tabs":[{"windows":[`+strings.Join(windows, ",")+`]}]}]`, 0o666)
	d.write("bin/kitty", "#!/bin/sh\nPATH=/usr/bin:/bin\ncase \"$4\" in\nls) exec cat '"+d.path("ls.json")+"' ;;\nclose-window) echo '[]' >'"+
		d.path("ls.json")+"' ;;\nesac\n", 0o777)
	d.Setenv("PATH", d.path("bin")+":"+os.Getenv("PATH"))
	d.terminals.Kitty = []string{"unix:" + d.path("kitty-1")}
}

// session returns the session of the only agent in a snapshot.
func (d *desktop) session() (source, path string) {
	d.Helper()
	snapshot, rows, err := d.terminals.Snapshot(d.discover(), "host", time.Unix(0, 0))
	if err != nil || snapshot == nil {
		d.Fatalf("%v: %+v", err, rows)
	}
	v, err := jsonvalue.ParseValue(snapshot)
	if err != nil {
		d.Fatal(err)
	}
	entries, _ := v.Get("entries")
	if len(entries.Items()) != 1 {
		d.Fatalf("the snapshot is %s", snapshot)
	}
	return transcript.Text(entries.Items()[0], "session_source"), transcript.Text(entries.Items()[0], "session_path")
}

// TestWindowsClose closes the window of an agent; another window inherited its
// variables.
func TestWindowsClose(t *testing.T) {
	d := newDesktop(t)
	d.write("own.jsonl", piSession, 0o666)
	window := `{"id":%d,"pid":1,"cwd":"/w","env":{"ZEUS_AGENT_NAME":"n","ZEUS_AGENT_ID":"w","ZEUS_SESSION_PATH":"` + d.path("own.jsonl") + `"},"cmdline":["pi"]}`
	d.kitty(fmt.Sprintf(window, 7), fmt.Sprintf(window, 3))
	live := d.discover()
	if len(live.Agents) != 1 {
		t.Fatalf("found %+v", live.Agents)
	}
	if err := d.terminals.Close(t.Context(), live.Agents[0]); err != nil {
		t.Fatal(err)
	}
	if live := d.discover(); len(live.Agents) != 0 {
		t.Errorf("after it was closed: %+v", live.Agents)
	}
	if _, _, err := d.terminals.Snapshot(d.discover(), "host", time.Unix(0, 0)); !errors.Is(err, zeus.ErrNoAgents) {
		t.Errorf("without agents: %v", err)
	}
}

// TestWindowsThatCannotBeSaved checks that a snapshot has all agents or does not exist.
func TestWindowsThatCannotBeSaved(t *testing.T) {
	d := newDesktop(t)
	d.write(".pi/agent/sessions/--w--/1.jsonl", piSession, 0o666)
	d.write("own.jsonl", piSession, 0o666)
	d.kitty(`{"id":1,"pid":1,"cwd":"/w","env":{"ZEUS_AGENT_NAME":"a","ZEUS_AGENT_ID":"a"},"cmdline":["pi"]}`,
		`{"id":2,"pid":1,"cwd":"/w","env":{"ZEUS_AGENT_NAME":"b","ZEUS_AGENT_ID":"b"},"cmdline":["pi"]}`,
		`{"id":3,"pid":1,"cwd":"/v","env":{"ZEUS_AGENT_NAME":"c","ZEUS_AGENT_ID":"c"},"cmdline":["pi"]}`,
		`{"id":4,"pid":1,"cwd":"/v","env":{"ZEUS_AGENT_NAME":"d"},"cmdline":["pi"]}`,
		`{"id":5,"pid":1,"cwd":"/u","env":{"ZEUS_AGENT_NAME":"e","ZEUS_AGENT_ID":"e","ZEUS_SESSION_PATH":"`+d.path("own.jsonl")+`"},"cmdline":["pi"]}`)
	snapshot, rows, err := d.terminals.Snapshot(d.discover(), "host", time.Unix(0, 0))
	if err != nil || snapshot != nil {
		t.Fatalf("%s, %v", snapshot, err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, fmt.Sprintf("%s %s %s", row.ID, row.Status, row.Detail))
	}
	d.expect(got, "a failed a: which session of /w it is in is not known, for 2 agents work there",
		"b failed b: which session of /w it is in is not known, for 2 agents work there",
		"c failed c: there is no file of its session", " failed d has no agent id", "e skipped not saved, because others cannot be")
}

// TestKittyThatDoesNotAnswer checks that an address that the user named has to answer.
func TestKittyThatDoesNotAnswer(t *testing.T) {
	d := newDesktop(t)
	d.kitty()
	d.write("bin/kitty", "#!/bin/sh\necho 'secret=1' ; exit 0\n", 0o777)
	if _, err := d.terminals.Discover(t.Context()); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "something else than a list of windows") {
		t.Errorf("not a list: %v", err)
	}
	d.write("bin/kitty", "#!/bin/sh\necho 'no route' >&2; exit 1\n", 0o777)
	if _, err := d.terminals.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), "no route") {
		t.Errorf("an error: %v", err)
	}
	d.terminals.Kitty, d.env["KITTY_LISTEN_ON"] = nil, "unix:"+d.path("no-socket")
	if _, err := d.terminals.Discover(t.Context()); err != nil {
		t.Errorf("an instance that has ended: %v", err)
	}
}
