package integration_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fleet is a repository with its own tmux server, Zeus directory and a stand-in for the
// agents' program.
type fleet struct {
	*site
	work string // directory in which agents work
}

// newFleet returns a fleet without agents.
func newFleet(tb testing.TB) *fleet {
	tb.Helper()
	needProgram(tb, "tmux")
	f := &fleet{site: newRepository(tb)}
	// The path of a socket is limited to 107 bytes.
	sockets, err := os.MkdirTemp("/tmp", "gdz-")
	if err != nil {
		tb.Fatal(err)
	}
	f.site = f.with("TMUX_TMPDIR="+sockets, "SHELL=/bin/sh")
	tb.Cleanup(func() {
		f.try("", "tmux", "kill-server")
		os.RemoveAll(sockets)
	})
	f.work = f.path("work")
	f.write("work/.keep", "")
	f.write("agent", "#!/bin/sh\n{ printf '%s\\n' \"$@\"; pwd; env | grep ^ZEUS_ | sort; } >\""+f.dir+"/starting.$$\"\nmv \""+f.dir+"/starting.$$\" \""+
		f.dir+"/started.$ZEUS_AGENT_ID\"\nexec sleep 1000\n")
	if err := os.Chmod(f.path("agent"), 0o755); err != nil {
		tb.Fatal(err)
	}
	f.git("config", "domarkx.zeus.agentCommand", "'"+f.path("agent")+"'")
	f.git("config", "domarkx.zeus.kitty", "unix:"+sockets+"/kitty-*")
	return f
}

func (f *fleet) home() string { return filepath.Join(filepath.Dir(f.dir), "home") }

// transcript writes a session file of pi and returns its path.
func (f *fleet) transcript(name string) string {
	f.tb.Helper()
	f.write("work/"+name, `{"type":"session","version":3,"id":"`+name+`"}`+"\n"+`{"type":"custom","id":"1","parentId":null,"customType":"x"}`+"\n")
	return f.path("work/" + name)
}

// tmux starts a tmux session with the given pairs of options and values.
func (f *fleet) tmux(session string, options ...string) {
	f.tb.Helper()
	args := []string{"-f", "/dev/null", "new-session", "-d", "-s", session, "-c", f.work, "sleep 1000"}
	for i := 0; i < len(options); i += 2 {
		args = append(args, ";", "set-option", "-t", "="+session+":", options[i], options[i+1])
	}
	eventually(f.tb, "tmux starts a session", func() bool {
		o := f.try("", "tmux", args...)
		if ending := strings.Contains(o.err, "server exited") || strings.Contains(o.err, "lost server"); o.code != 0 && !ending {
			f.tb.Fatalf("%s", o)
		}
		return o.code == 0 // a server ends with its last session
	})
}

// stygian starts a stygian agent.
func (f *fleet) stygian(id, transcript string) {
	f.tb.Helper()
	f.tmux("stygian-"+id, "@zeus_agent", id, "@zeus_role", "hippeus", "@zeus_name", "shade "+id, "@zeus_backend", "stygian-hippeus", "@zeus_session_path", transcript)
}

// killServer ends all agents in tmux, and waits until the server accepts no more
// sessions.
func (f *fleet) killServer() {
	f.tb.Helper()
	f.must("", "tmux", "kill-server")
	eventually(f.tb, "tmux ends", func() bool {
		said := f.try("", "tmux", "list-sessions").err
		return strings.Contains(said, "no server running") || strings.Contains(said, "error connecting")
	})
}

// sessions returns the names of the tmux sessions.
func (f *fleet) sessions() string {
	return strings.Join(strings.Fields(f.try("", "tmux", "list-sessions", "-F", "#{session_name}").out), " ")
}

// started waits until the stand-in runs for an agent, and returns how it was started.
func (f *fleet) started(id string) string {
	f.tb.Helper()
	path := f.path("started." + id)
	eventually(f.tb, "the agent "+id+" is started", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
	text := f.read(path)
	if err := os.Remove(path); err != nil {
		f.tb.Fatal(err)
	}
	return text
}

// expect runs the program and compares its rows, in any order: that of windows depends on the numbers of their processes. The
// detail "*" matches anything.
func (f *fleet) expect(code int, args []string, rows ...string) outcome {
	f.tb.Helper()
	o := f.try("", "git-domarkx", append([]string{"zeus"}, args...)...)
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	if o.out == "" {
		lines = nil
	}
	slices.Sort(lines)
	rows = slices.Sorted(slices.Values(rows))
	same := len(lines) == len(rows) && o.code == code
	for i := 0; same && i < len(rows); i++ {
		want, ends := strings.CutSuffix(strings.ReplaceAll(rows[i], " | ", "\t"), "*")
		same = lines[i] == want || ends && strings.HasPrefix(lines[i], want)
	}
	if !same {
		f.tb.Fatalf("%s\nexpected exit %d and %q", o, code, rows)
	}
	return o
}

// only returns the one session whose name has this suffix.
func (f *fleet) only(suffix string) string {
	f.tb.Helper()
	var found []string
	for line := range strings.Lines(f.domarkx("list")) {
		if name, _, _ := strings.Cut(line, "\t"); strings.HasSuffix(name, suffix) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		f.tb.Fatalf("sessions that end in %q: %q", suffix, found)
	}
	return found[0]
}

// TestZeusSave saves agents in tmux, both for this program and for Zeus.
func TestZeusSave(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.expect(1, []string{"save"})
	if o := f.try("", "git-domarkx", "zeus", "save", "--json"); o.code != 1 || o.out != "[]\n" {
		t.Errorf("%s", o)
	}
	a, h := f.transcript("a.jsonl"), f.transcript("h.jsonl")
	f.stygian("s-1", a)
	f.tmux("hop-1", "@zeus_agent", "h-1", "@zeus_role", "Hoplite", "@zeus_owner", "s-1", "@zeus_phalanx", "phalanx-s-1", "@zeus_session_path", h)
	f.tmux("hop-2", "@zeus_agent", "h-2", "@zeus_role", "hoplite", "@zeus_owner", "gone", "@zeus_phalanx", "p", "@zeus_session_path", h)
	f.tmux("hop-3", "@zeus_agent", "h-3", "@zeus_role", "hoplite", "@zeus_owner", "s-1", "@zeus_session_path", h)
	f.tmux("own")
	f.expect(0, []string{"save", "--name", "  Before: the holidays! "}, "s-1 | stygian | saved | "+a, "h-1 | hoplite | saved | "+h)
	name := f.only("Z-Before-the-holidays")
	files, err := filepath.Glob(filepath.Join(f.home(), ".zeus/snapshots/*"))
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != name+".json" {
		t.Fatalf("files of Zeus: %q, %v", files, err)
	}
	if got, want := f.domarkx("export", "--strict", "--format", "zeus", name), f.read(files[0]); got != want {
		t.Errorf("the session as a snapshot:\n%s\nthe file of Zeus:\n%s", got, want)
	}
	f.domarkx("validate", files[0])
	shown := f.domarkx("show", name)
	for _, path := range []string{a, h} {
		digest, _, _ := strings.Cut(f.must("", "sha256sum", path), " ")
		if !strings.Contains(shown, `"session_sha256": "`+digest+`"`) {
			t.Errorf("no digest of %s in\n%s", path, shown)
		}
		if got := f.domarkx("show", "--attachment", digest, name); got != f.read(path) {
			t.Errorf("kept: %q", got)
		}
	}
	// A changed session is exported in Zeus's format, without the digest.
	f.with("GIT_EDITOR=sed -i 's/shade s-1/shadow/'").domarkx("edit", name)
	if got, want := f.domarkx("export", "--strict", "--format", "zeus", name), strings.Replace(f.read(files[0]), "shade s-1", "shadow", 1); got != want {
		t.Errorf("changed:\n%s\nwant\n%s", got, want)
	}
	f.expect(0, []string{"list"}, "s-1 | stygian | saved | "+name, "h-1 | hoplite | saved | "+name)
	var rows []map[string]string
	if err := json.Unmarshal([]byte(f.domarkx("zeus", "list", "--json")), &rows); err != nil || len(rows) != 2 ||
		!maps.Equal(rows[1], map[string]string{"agent_id": "h-1", "kind": "hoplite", "status": "saved", "detail": name}) {
		t.Errorf("%v: %v", err, rows)
	}

	// If one agent cannot be saved, none is.
	f.tmux("hop-4", "@zeus_agent", "h-4", "@zeus_role", "hoplite", "@zeus_owner", "s-1", "@zeus_phalanx", "p", "@zeus_session_path", "/none.jsonl")
	f.expect(1, []string{"save", "--close", "--name", "two"}, "s-1 | stygian | skipped | *", "h-1 | hoplite | skipped | *", "h-4 | hoplite | failed | *")
	if all := f.sessions(); strings.Count(all, " ") != 5 {
		t.Errorf("closed: left are %s", all)
	}
	// An agent's own note has precedence.
	f.write(filepath.Join(f.home(), ".zeus/session-map/h-4.json"), `{"agentId":"h-4","sessionPath":"`+a+`","updatedAt":"2000-01-01T00:00:00Z"}`)
	f.expect(1, []string{"save"}, "s-1 | stygian | skipped | *", "h-1 | hoplite | skipped | *", "h-4 | hoplite | failed | *")
	f.write(filepath.Join(f.home(), ".zeus/session-map/h-4.json"), `{"agentId":"h-4","sessionPath":"`+a+`","updatedAt":"2900-01-01T00:00:00Z"}`)
	f.expect(0, []string{"save", "--close", "--name", "two"}, "s-1 | stygian | saved | "+a, "h-1 | hoplite | saved | "+h, "h-4 | hoplite | saved | "+a)
	if all := f.sessions(); all != "hop-2 hop-3 own" {
		t.Errorf("left are %s", all)
	}
	f.sound()
}

// TestZeusRestore restarts agents in tmux with each policy.
func TestZeusRestore(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	a, h := f.transcript("a.jsonl"), f.transcript("h.jsonl")
	f.stygian("s-1", a)
	f.tmux("hop", "@zeus_agent", "h-1", "@zeus_role", "hoplite", "@zeus_owner", "s-1", "@zeus_phalanx", "phalanx-s-1", "@zeus_session_path", h)
	f.domarkx("zeus", "save", "--name", "fleet")
	name := f.only("-fleet")
	tip := f.tip(name)

	o := f.expect(1, []string{"restore", name}, "s-1 | stygian | failed | runs already", "h-1 | hoplite | failed | runs already")
	if !strings.Contains(o.err, "h-1, s-1") || !strings.Contains(o.err, "0 restored, 0 skipped, 2 failed") {
		t.Errorf("%s", o)
	}
	f.expect(0, []string{"restore", "--if-running=skip", name}, "s-1 | stygian | skipped | *", "h-1 | hoplite | skipped | *")
	if o := f.try("", "git-domarkx", "zeus", "restore", "--json", name); o.code != 1 || !strings.Contains(o.out, `"agent_id": "s-1"`) || !strings.Contains(o.out, `"status": "failed"`) {
		t.Errorf("%s", o)
	}
	f.expect(0, []string{"restore", "--if-running=replace", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | restored | *")
	want := func(id, path, more string) {
		t.Helper()
		if got := f.started(id); got != "--session\n"+path+"\n"+f.work+"\n"+more+"ZEUS_SESSION_PATH="+path+"\n" {
			t.Errorf("%s was started so:\n%s", id, got)
		}
	}
	stygian := "ZEUS_AGENT_ID=s-1\nZEUS_AGENT_NAME=shade s-1\nZEUS_ROLE=hippeus\n"
	hoplite := "ZEUS_AGENT_ID=h-1\nZEUS_AGENT_NAME=hop\nZEUS_PARENT_ID=s-1\nZEUS_PHALANX_ID=phalanx-s-1\nZEUS_ROLE=hoplite\n"
	want("s-1", a, stygian)
	want("h-1", h, hoplite)
	// A restored agent can be saved again, so Zeus recognises it by all its options.
	f.expect(0, []string{"save", "--close", "--name", "again"}, "s-1 | stygian | saved | "+a, "h-1 | hoplite | saved | "+h)
	entries := func(session string) string {
		_, text, _ := strings.Cut(f.domarkx("export", "--format", "zeus", session), "entries")
		return text
	}
	if got, want := entries(f.only("-again")), entries(name); got != want {
		t.Errorf("saved again:\n%s\nwant\n%s", got, want)
	}

	// A running agent prevents the whole restore; a session that only has the same name
	// prevents just one agent.
	f.tmux("elsewhere", "@zeus_agent", "s-1")
	f.expect(1, []string{"restore", name}, "s-1 | stygian | failed | *", "h-1 | hoplite | skipped | *")
	f.expect(0, []string{"restore", "--if-running=skip", name}, "s-1 | stygian | skipped | *", "h-1 | hoplite | restored | *")
	want("h-1", h, hoplite)
	f.killServer()
	f.tmux("hop")
	f.tmux("stygian-s-1-longer") // starts with the other session's name
	f.expect(1, []string{"restore", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | failed | *")
	want("s-1", a, stygian)
	if all := f.sessions(); all != "hop stygian-s-1 stygian-s-1-longer" {
		t.Errorf("sessions: %s", all)
	}
	f.must("", "tmux", "kill-session", "-t", "=stygian-s-1")
	f.expect(0, []string{"restore", "--if-running=replace", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | restored | *")
	f.started("s-1")
	want("h-1", h, hoplite)
	if all := f.sessions(); all != "hop stygian-s-1 stygian-s-1-longer" {
		t.Errorf("sessions: %s", all)
	}
	f.killServer()

	// Missing transcripts are restored from Git, to their own path or another directory.
	text := f.read(a)
	for _, path := range []string{a, h} {
		os.Remove(path)
	}
	dir := f.path("elsewhere")
	for range 2 {
		f.expect(0, []string{"restore", "--session-dir", "elsewhere", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | restored | *")
		want("s-1", dir+"/a.jsonl", stygian)
		want("h-1", dir+"/h.jsonl", hoplite)
		f.killServer()
	}
	f.write("elsewhere/a.jsonl", "another file\n")
	f.expect(0, []string{"restore", "--session-dir", "elsewhere", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | restored | *")
	if got := f.started("s-1"); !strings.HasPrefix(got, "--session\n"+dir+"/a-") || f.read("elsewhere/a.jsonl") != "another file\n" {
		t.Errorf("started so:\n%s", got)
	}
	f.started("h-1")
	f.killServer()
	f.expect(0, []string{"restore", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | restored | *")
	want("s-1", a, stygian)
	want("h-1", h, hoplite)
	if got := f.read(a); got != text {
		t.Errorf("written back: %q", got)
	}
	f.killServer()

	// Restore Zeus's own file by name. It has no transcripts.
	f.domarkx("rm", name)
	os.Remove(h)
	f.expect(1, []string{"restore", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | failed | *")
	f.started("s-1")
	if now := f.tip(name); now != "" || tip == "" {
		t.Errorf("a session came back: %s", now)
	}
	f.sound()
}

// TestZeusNames saves, closes and restores tmux sessions whose names have a special
// meaning in tmux targets.
func TestZeusNames(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.tmux("x")
	names := []string{"=x", "==x", "=", "@0", "%1", "+1", "-", "-x", "!", "^", "~x", "{last}", "{", "*", "?", "[x", "x*", "x ", " x", "x;", ";",
		"x#y", "x%Hy%%", "x=y", "x'y\"z", "\u00fc", "$0", "$x", `x\y`, `\$x`}
	f.tmux("made")
	var args []string
	for i, name := range names {
		id := fmt.Sprintf("n-%d", i)
		argument := name
		if rest, ok := strings.CutSuffix(name, ";"); ok {
			argument = rest + `\;`
		}
		args = append(args, "new-session", "-d", "-P", "-F", "#{session_id}", "-c", f.work, "-s", strings.ReplaceAll(argument, "#", "##"), "sleep 1000", ";")
		path := f.transcript(id + ".jsonl")
		for option, value := range map[string]string{"@zeus_agent": id, "@zeus_backend": "stygian-hippeus", "@zeus_session_path": path} {
			args = append(args, "set-option", "-t", fmt.Sprintf("$%d:", i+2), option, value, ";")
		}
	}
	var ids strings.Builder
	for i := range names {
		fmt.Fprintf(&ids, "$%d\n", i+2) // those before it are x and made
	}
	if got := f.must("", "tmux", args...); got != ids.String() {
		t.Fatalf("the ids of the sessions are\n%s", got)
	}
	list := func() string {
		lines := strings.Split(f.must("", "tmux", "list-sessions", "-F", "#{session_name}|#{@zeus_agent}|#{@zeus_session_path}"), "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	before := list()
	f.domarkx("zeus", "save", "--close", "--name", "names")
	if left := f.sessions(); left != "made x" {
		t.Fatalf("left are %s", left)
	}
	f.domarkx("zeus", "restore", f.only("-names"))
	if after := list(); after != before {
		t.Errorf("sessions were\n%s\nand are\n%s", before, after)
	}
	o := f.try("", "git-domarkx", "zeus", "restore", f.only("-names"))
	if o.code != 1 || strings.Count(o.out, "runs already") != len(names) {
		t.Errorf("%s", o)
	}
}

// TestZeusElsewhere restores agents on another machine from a pulled session.
func TestZeusElsewhere(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	a := f.transcript("a.jsonl")
	f.write("fleet.json", `{"schema_version":1,"working_agent_ids":["s-1"],"entries":[
		{"kind":" STYGIAN ","agent_id":"s-1","name":"shade","cwd":"`+f.work+`","tmux_session":"one","session_path":"`+a+`"}]}`)
	f.domarkx("import", "fleet.json")
	if got := f.domarkx("export", "--format", "zeus", "fleet"); got != f.read("fleet.json") {
		t.Errorf("exported: %s", got)
	}
	f.must("", "git", "init", "-q", "--bare", "../hub")
	f.git("remote", "add", "origin", "../hub")
	f.domarkx("push", "origin", "fleet")
	os.Remove(a)

	other := newFleet(t)
	other.git("remote", "add", "origin", f.path("../hub"))
	other.domarkx("pull", "origin")
	if err := os.RemoveAll(f.work); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(f.work, 0o777); err != nil {
		t.Fatal(err)
	}
	o := other.expect(0, []string{"restore", "fleet"}, "s-1 | stygian | restored | *")
	if !strings.Contains(o.err, "1 of those restored were at work") {
		t.Errorf("%s", o)
	}
	if got := other.started("s-1"); !strings.HasPrefix(got, "--session\n"+a+"\n"+f.work+"\n") {
		t.Errorf("started so:\n%s", got)
	}
	if !strings.Contains(f.read(a), `"id":"a.jsonl"`) {
		t.Errorf("written back: %s", f.read(a))
	}
}
