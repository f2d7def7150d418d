package integration_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A fleet is a repository with a tmux server, a folder of Zeus and a stand-in for the
// agents' program, all of its own.
type fleet struct {
	*site
	work string // a folder in which agents work
}

// newFleet returns a fleet without agents.
func newFleet(tb testing.TB) *fleet {
	tb.Helper()
	needProgram(tb, "tmux")
	f := &fleet{site: newRepository(tb)}
	// The path of a socket has at most 107 bytes.
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

// transcript writes a session of pi and returns its path.
func (f *fleet) transcript(name string) string {
	f.tb.Helper()
	f.write("work/"+name, `{"type":"session","version":3,"id":"`+name+`"}`+"\n"+`{"type":"custom","id":"1","parentId":null,"customType":"x"}`+"\n")
	return f.path("work/" + name)
}

// tmux starts a session of tmux with options in pairs.
func (f *fleet) tmux(session string, options ...string) {
	f.tb.Helper()
	f.must("", "tmux", "-f", "/dev/null", "new-session", "-d", "-s", session, "-c", f.work, "sleep 1000")
	for i := 0; i < len(options); i += 2 {
		f.must("", "tmux", "set-option", "-t", "="+session+":", options[i], options[i+1])
	}
}

// stygian starts a stygian agent.
func (f *fleet) stygian(id, transcript string) {
	f.tb.Helper()
	f.tmux("stygian-"+id, "@zeus_agent", id, "@zeus_role", "hippeus", "@zeus_name", "shade "+id, "@zeus_backend", "stygian-hippeus", "@zeus_session_path", transcript)
}

// killServer ends all agents in tmux, and waits until the server takes no more
// sessions.
func (f *fleet) killServer() {
	f.tb.Helper()
	f.must("", "tmux", "kill-server")
	eventually(f.tb, "tmux ends", func() bool {
		said := f.try("", "tmux", "list-sessions").err
		return strings.Contains(said, "no server running") || strings.Contains(said, "error connecting")
	})
}

// sessions returns the names of tmux's sessions.
func (f *fleet) sessions() string {
	return strings.Join(strings.Fields(f.try("", "tmux", "list-sessions", "-F", "#{session_name}").out), " ")
}

// started returns how the stand-in was started for an agent, once it was.
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

// expect runs the program and compares its rows, of which "*" as detail is any.
func (f *fleet) expect(code int, args []string, rows ...string) outcome {
	f.tb.Helper()
	o := f.try("", "git-domarkx", append([]string{"zeus"}, args...)...)
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	if o.out == "" {
		lines = nil
	}
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

// only returns the one session whose name ends so.
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

// TestZeusSave saves agents in tmux, for this program and for Zeus.
func TestZeusSave(t *testing.T) {
	f := newFleet(t)
	f.expect(1, []string{"save"})
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
	// A changed session is written as Zeus writes it, without the digest.
	f.with("GIT_EDITOR=sed -i 's/shade s-1/shadow/'").domarkx("edit", name)
	if got, want := f.domarkx("export", "--strict", "--format", "zeus", name), strings.Replace(f.read(files[0]), "shade s-1", "shadow", 1); got != want {
		t.Errorf("changed:\n%s\nwant\n%s", got, want)
	}
	f.expect(0, []string{"list"}, "s-1 | stygian | saved | "+name, "h-1 | hoplite | saved | "+name)

	// All or nothing.
	f.tmux("hop-4", "@zeus_agent", "h-4", "@zeus_role", "hoplite", "@zeus_owner", "s-1", "@zeus_phalanx", "p", "@zeus_session_path", "/none.jsonl")
	f.expect(1, []string{"save", "--close", "--name", "two"}, "s-1 | stygian | skipped | *", "h-1 | hoplite | skipped | *", "h-4 | hoplite | failed | *")
	if all := f.sessions(); strings.Count(all, " ") != 5 {
		t.Errorf("closed: left are %s", all)
	}
	// What an agent notes itself counts for it.
	f.write(filepath.Join(f.home(), ".zeus/session-map/h-4.json"), `{"agentId":"h-4","sessionPath":"`+a+`","updatedAt":"2000-01-01T00:00:00Z"}`)
	f.expect(1, []string{"save"}, "s-1 | stygian | skipped | *", "h-1 | hoplite | skipped | *", "h-4 | hoplite | failed | *")
	f.write(filepath.Join(f.home(), ".zeus/session-map/h-4.json"), `{"agentId":"h-4","sessionPath":"`+a+`","updatedAt":"2900-01-01T00:00:00Z"}`)
	f.expect(0, []string{"save", "--close", "--name", "two"}, "s-1 | stygian | saved | "+a, "h-1 | hoplite | saved | "+h, "h-4 | hoplite | saved | "+a)
	if all := f.sessions(); all != "hop-2 hop-3 own" {
		t.Errorf("left are %s", all)
	}
	f.sound()
}

// TestZeusRestore starts agents in tmux again, by each policy.
func TestZeusRestore(t *testing.T) {
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
	// What was restored can be saved again, so Zeus knows it by all its options.
	f.expect(0, []string{"save", "--close", "--name", "again"}, "s-1 | stygian | saved | "+a, "h-1 | hoplite | saved | "+h)
	entries := func(session string) string {
		_, text, _ := strings.Cut(f.domarkx("export", "--format", "zeus", session), "entries")
		return text
	}
	if got, want := entries(f.only("-again")), entries(name); got != want {
		t.Errorf("saved again:\n%s\nwant\n%s", got, want)
	}

	// One that runs keeps all from being started; another session of that name only its own.
	f.tmux("elsewhere", "@zeus_agent", "s-1")
	f.expect(1, []string{"restore", name}, "s-1 | stygian | failed | *", "h-1 | hoplite | skipped | *")
	f.expect(0, []string{"restore", "--if-running=skip", name}, "s-1 | stygian | skipped | *", "h-1 | hoplite | restored | *")
	want("h-1", h, hoplite)
	f.killServer()
	f.tmux("hop")
	f.tmux("stygian-s-1-longer") // begins with the other one's name
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

	// Missing transcripts come out of Git, to their place or another one.
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
	if got := f.read(a); got != text {
		t.Errorf("written back: %q", got)
	}
	f.killServer()

	// The file of Zeus, by its name; it has no transcripts.
	f.domarkx("rm", name)
	os.Remove(h)
	f.expect(1, []string{"restore", name}, "s-1 | stygian | restored | *", "h-1 | hoplite | failed | *")
	if now := f.tip(name); now != "" || tip == "" {
		t.Errorf("a session came back: %s", now)
	}
	f.sound()
}

// TestZeusElsewhere restores on another machine what came with a pull.
func TestZeusElsewhere(t *testing.T) {
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
	other.expect(1, []string{"restore", "fleet"}, "s-1 | stygian | failed | *")
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

// TestZeusHostile restores what somebody wrote to harm.
func TestZeusHostile(t *testing.T) {
	f := newFleet(t)
	pwn := `touch '` + f.path("pwned") + `'`
	nasty := []string{`$(` + pwn + `)`, "`" + pwn + "`", `"; ` + pwn + `; "`, `'; ` + pwn + ` #`, `#(` + pwn + `)`, `x;`, `\;`, `;`, `-x`, "a\nb", `\'; ` + pwn + `; '`}
	var entries []string
	quote := func(s string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
	}
	for i, text := range nasty {
		folder := strings.ReplaceAll(text, "/", "%")
		if err := os.MkdirAll(filepath.Join(f.work, folder), 0o777); err != nil {
			t.Fatal(err)
		}
		path := f.transcript(folder + "/s " + folder + ".jsonl")
		entries = append(entries, fmt.Sprintf(`{"kind":"hoplite","agent_id":"n-%[1]d","name":%[2]s,"role":%[2]s,"cwd":%[3]s,"tmux_session":"t %[1]d;","session_path":%[4]s,"owner_id":%[2]s,"phalanx_id":%[2]s}`,
			i, quote(text), quote(filepath.Join(f.work, folder)), quote(path)))
	}
	f.write("nasty.json", `{"schema_version":1,"entries":[`+strings.Join(entries, ",\n")+`]}`)
	f.domarkx("import", "nasty.json")
	f.must("", "tmux", "-f", "/dev/null", "new-session", "-d", "-s", "bystander", "sleep 1000")
	f.domarkx("zeus", "restore", "nasty")
	for i, text := range nasty {
		got := f.started(fmt.Sprintf("n-%d", i))
		folder := strings.ReplaceAll(text, "/", "%")
		for _, want := range []string{"\nZEUS_AGENT_NAME=" + text + "\n", "ZEUS_PARENT_ID=" + text + "\n", "--session\n" + filepath.Join(f.work, folder) + "/s " + folder + ".jsonl\n"} {
			// Lines are sorted, and one of the values has two.
			if first, _, _ := strings.Cut(strings.TrimPrefix(want, "\n"), "\n"); !strings.Contains(got, first) {
				t.Errorf("%q: no %q in\n%s", text, want, got)
			}
		}
		for option, want := range map[string]string{"@zeus_name": strings.TrimSpace(text), "@zeus_owner": strings.TrimSpace(text)} {
			if got := f.must("", "tmux", "-u", "display-message", "-p", "-t", fmt.Sprintf("=t %d;:", i), "#{"+option+"}"); got != want+"\n" {
				t.Errorf("%s is %q, want %q", option, got, want)
			}
		}
	}
	if _, err := os.Stat(f.path("pwned")); err == nil {
		t.Error("a command in the document was run")
	}

	// Names of sessions that would mean others, and paths that are no place for a transcript.
	entry := func(id, session, path string) string {
		return fmt.Sprintf(`{"kind":"stygian","agent_id":"%s","cwd":%s,"tmux_session":%s,"session_path":%s}`, id, quote(f.work), quote(session), quote(path))
	}
	good := f.transcript("good.jsonl")
	f.write("secret", "root:x\n")
	f.write("bad.json", `{"schema_version":1,"entries":[`+strings.Join([]string{
		entry("b-0", "$0", good), entry("b-1", "a:b", good), entry("b-2", "=bystander", good), entry("b-3", "", good), entry("b-4", "ok", "relative.jsonl"),
	}, ",")+`]}`)
	f.domarkx("import", "bad.json")
	f.expect(1, []string{"restore", "bad"}, "b-0 | stygian | failed | *", "b-1 | stygian | failed | *", "b-2 | stygian | failed | *", "b-3 | stygian | failed | *", "b-4 | stygian | failed | *")
	if got := f.must("", "tmux", "show-options", "-t", "=bystander:"); strings.Contains(got, "zeus") {
		t.Errorf("the bystander: %s", got)
	}

	// Only transcripts are taken out of this machine, and only they are written to one.
	for _, name := range []string{"secret", "fifo", "link", ".", "none"} {
		path := f.path(name)
		switch name {
		case "fifo":
			f.must("", "mkfifo", path)
		case "link":
			if err := os.Symlink(f.path("secret"), path); err != nil {
				t.Fatal(err)
			}
		}
		f.write("take.json", `{"schema_version":1,"entries":[`+entry("x", "x", path)+`]}`)
		o := f.try("", "git-domarkx", "import", "--as", "take-"+strings.Trim(name, "."), "take.json")
		if name == "." {
			o = f.try("", "git-domarkx", "import", "--as", "take-dot", "take.json")
		}
		if o.code != 0 || !strings.Contains(o.err, "is not kept") {
			t.Errorf("%s", o)
		}
	}
	if all := f.git("cat-file", "--batch-all-objects", "--batch", "--buffer"); strings.Contains(all, "root:x") {
		t.Error("another file than a transcript was kept")
	}
	shell := f.transcript("rc.jsonl")
	f.write("drop.json", `{"schema_version":1,"entries":[`+entry("d-0", "d0", shell)+`]}`)
	f.domarkx("import", "drop.json")
	os.Remove(shell)
	first := f.tip("drop")
	for _, path := range []string{f.path("work/.profile"), f.dir + "/work/../evil.jsonl", "/proc/none/x.jsonl"} {
		f.with("GIT_EDITOR=sed -i s,"+shell+","+path+",").domarkx("edit", "drop")
		f.expect(1, []string{"restore", "drop"}, "d-0 | stygian | failed | *")
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was written", path)
		}
		f.domarkx("rewind", "drop@"+first)
	}

	for name, text := range map[string]string{
		"version": `{"schema_version":2,"entries":[` + entry("v", "v", good) + `]}`,
		"kind":    `{"schema_version":1,"entries":[` + strings.Replace(entry("v", "v", good), "stygian", "titan", 1) + `]}`,
	} {
		f.write(filepath.Join(f.home(), ".zeus/snapshots", name+".json"), text)
		f.expect(1, []string{"restore", name})
	}
	if o := f.try("", "git-domarkx", "zeus", "restore", "no-such"); o.code != 128 || o.out != "" {
		t.Errorf("%s", o)
	}
	f.sound()
}

// screen starts a display for windows and returns the fleet on it.
func (f *fleet) screen(tb testing.TB) *fleet {
	tb.Helper()
	needProgram(tb, "Xvfb", "kitty")
	number, write, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{write}
	start(tb, cmd)
	write.Close()
	var display int
	if _, err := fmt.Fscan(number, &display); err != nil {
		tb.Fatalf("Xvfb: %v", err)
	}
	number.Close()
	screen := f.windows(fmt.Sprintf("DISPLAY=:%d", display))
	screen.write("conf/kitty.conf", screen.read("conf/kitty.conf")+"linux_display_server x11\n")
	return screen
}

// windows returns the fleet with a kitty of its own settings in an environment.
func (f *fleet) windows(env ...string) *fleet {
	sockets := strings.TrimPrefix(strings.TrimSuffix(strings.TrimSpace(f.git("config", "domarkx.zeus.kitty")), "-*"), "unix:")
	f.write("conf/kitty.conf", "allow_remote_control yes\nlisten_on unix:"+sockets+"\nupdate_check_interval 0\nconfirm_os_window_close 0\n")
	other := *f
	other.site = f.with(append(env, "LIBGL_ALWAYS_SOFTWARE=1", "KITTY_CONFIG_DIRECTORY="+f.path("conf"), "KITTY_CACHE_DIRECTORY="+f.path("conf"))...)
	return &other
}

// start starts a program that is ended with the test.
func start(tb testing.TB, cmd *exec.Cmd) {
	tb.Helper()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// kitty starts an agent in a window and waits until it is there.
func (f *fleet) kitty(id, name string, env ...string) {
	f.tb.Helper()
	cmd := f.command(context.Background(), "kitty", "--hold", "sleep", "1000")
	cmd.Dir = f.work
	cmd.Env = append(append([]string{}, f.env...), append(env, "ZEUS_AGENT_ID="+id, "ZEUS_AGENT_NAME="+name, "PASSWORD=hunter2")...)
	start(f.tb, cmd)
	address := fmt.Sprintf("%s-%d", strings.TrimSuffix(strings.TrimSpace(f.git("config", "domarkx.zeus.kitty")), "-*"), cmd.Process.Pid)
	eventually(f.tb, "kitty listens", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), maxRun)
		defer cancel()
		out, err := f.command(ctx, "kitty", "@", "--to", address, "ls").Output()
		return err == nil && strings.Contains(string(out), id)
	})
}

// TestZeusKitty saves and restores agents in windows.
func TestZeusKitty(t *testing.T) {
	f := newFleet(t)
	f = f.screen(t)
	t.Cleanup(func() { f.try("", "git-domarkx", "zeus", "save", "--close") }) // what was restored outlives its parent
	a, h := f.transcript("a.jsonl"), f.transcript("h.jsonl")
	f.kitty("k-1", "pomona", "ZEUS_ROLE=Polemarch", "ZEUS_SESSION_PATH="+a)
	f.tmux("hop", "@zeus_agent", "h-1", "@zeus_role", "hoplite", "@zeus_owner", "k-1", "@zeus_phalanx", "p", "@zeus_session_path", h)
	f.expect(0, []string{"save", "--name", "windows"}, "k-1 | kitty | saved | "+a, "h-1 | hoplite | saved | "+h)
	name := f.only("-windows")
	snapshot := f.domarkx("export", "--format", "zeus", name)
	for _, want := range []string{`"kind": "kitty"`, `"name": "pomona"`, `"role": "polemarch"`, `"workspace": "?"`, `"session_source": "env"`, `"parent_id": ""`, `"cwd": "` + f.work + `"`} {
		if !strings.Contains(snapshot, want) {
			t.Errorf("no %s in\n%s", want, snapshot)
		}
	}
	if all := f.git("cat-file", "--batch-all-objects", "--batch", "--buffer"); strings.Contains(all, "hunter2") {
		t.Error("the environment of a window is stored")
	}

	// Without a path of its own, an agent is in the newest session of its folder, if it is alone there.
	f.kitty("k-2", "vertumnus")
	f.expect(1, []string{"save"}, "k-1 | kitty | skipped | *", "k-2 | kitty | failed | *", "h-1 | hoplite | skipped | *")
	pi := filepath.Join(f.home(), ".pi/agent/sessions/--"+strings.ReplaceAll(strings.TrimPrefix(f.work, "/"), "/", "-")+"--")
	f.write(pi+"/2026-01-01T00-00-00-000Z_1.jsonl", "{}\n")
	f.expect(1, []string{"save"}, "k-1 | kitty | skipped | *", "k-2 | kitty | failed | *", "h-1 | hoplite | skipped | *")
	f.write(filepath.Join(f.home(), ".zeus/session-map/k-2.json"), `{"agentId":"k-2","sessionPath":"`+h+`","updatedAt":"2900-01-01T00:00:00Z"}`)
	f.expect(0, []string{"save", "--close", "--name", "both"}, "k-1 | kitty | saved | "+a, "k-2 | kitty | saved | "+h, "h-1 | hoplite | saved | "+h)
	f.expect(1, []string{"save"})

	f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *", "h-1 | hoplite | restored | *")
	want := "--session\n" + a + "\n" + f.work + "\nZEUS_AGENT_ID=k-1\nZEUS_AGENT_NAME=pomona\nZEUS_ROLE=polemarch\nZEUS_SESSION_PATH=" + a + "\n"
	if got := f.started("k-1"); got != want {
		t.Errorf("started so:\n%s", got)
	}
	f.expect(1, []string{"restore", name}, "k-1 | kitty | failed | *", "h-1 | hoplite | failed | *")
	f.expect(0, []string{"restore", "--if-running=replace", name}, "k-1 | kitty | restored | *", "h-1 | hoplite | restored | *")
	if got := f.started("k-1"); got != want {
		t.Errorf("started again so:\n%s", got)
	}
	f.expect(0, []string{"save", "--close"}, "k-1 | kitty | saved | *", "h-1 | hoplite | saved | *")

	blind := *f
	blind.site = f.with("DISPLAY=:9999")
	o := blind.expect(1, []string{"restore", name}, "k-1 | kitty | failed | kitty ended: *", "h-1 | hoplite | restored | *")
	if !strings.Contains(o.err, "1 restored, 0 skipped, 1 failed") {
		t.Errorf("%s", o)
	}
	if o := f.with("KITTY_LISTEN_ON=unix:/nowhere").try("", "git-domarkx", "-q", "zeus", "list"); o.code != 0 {
		t.Errorf("%s", o)
	}
	f.git("config", "domarkx.zeus.kitty", "unix:/nowhere")
	if o := f.try("", "git-domarkx", "zeus", "save"); o.code != 128 || !strings.Contains(o.err, "unix:/nowhere") {
		t.Errorf("%s", o)
	}
	f.git("config", "--unset", "domarkx.zeus.kitty")
}

// TestZeusSway returns windows to their workspaces.
func TestZeusSway(t *testing.T) {
	needProgram(t, "sway", "kitty", "setpriv")
	f := newFleet(t)
	run, err := os.MkdirTemp("/tmp", "gdz-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(run) })
	conf := filepath.Join(run, "config")
	if err := os.WriteFile(conf, []byte("xwayland disable\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"sway", "-c", conf}
	if os.Geteuid() == 0 { // which sway refuses
		if err := os.Chown(run, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		args = append([]string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + run, "XDG_RUNTIME_DIR=" + run, "SWAYSOCK=" + run + "/sway.sock",
		"WLR_BACKENDS=headless", "WLR_RENDERER=pixman", "WLR_LIBINPUT_NO_DEVICES=1"}
	start(t, cmd)
	var display string
	eventually(t, "sway listens", func() bool {
		found, _ := filepath.Glob(run + "/wayland-?")
		_, err := os.Stat(run + "/sway.sock")
		if len(found) == 1 && err == nil {
			display = found[0]
		}
		return display != ""
	})
	f = f.windows("SWAYSOCK="+run+"/sway.sock", "WAYLAND_DISPLAY="+display, "XDG_RUNTIME_DIR="+run)
	f.write("conf/kitty.conf", f.read("conf/kitty.conf")+"linux_display_server wayland\n")
	t.Cleanup(func() { f.try("", "git-domarkx", "zeus", "save", "--close") })

	f.must("", "swaymsg", `workspace "DP-1:3"`)
	a := f.transcript("a.jsonl")
	f.kitty("k-1", "pomona", "ZEUS_SESSION_PATH="+a)
	where := func() string {
		f.domarkx("zeus", "save", "--close", "--name", "probe")
		names := strings.Fields(f.domarkx("zeus", "list"))
		_, rest, _ := strings.Cut(f.domarkx("export", "--format", "zeus", names[3]), `"workspace": "`)
		at, _, _ := strings.Cut(rest, `"`)
		return at
	}
	if at := where(); at != "DP-1:3" {
		t.Fatalf("saved on %q", at)
	}
	name := strings.Fields(f.domarkx("zeus", "list"))[3]
	f.must("", "swaymsg", "workspace 7")
	f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *")
	if at := where(); at != "DP-1:3" {
		t.Errorf("restored on %q", at)
	}
	f.must("", "swaymsg", "workspace 7")
	f.expect(0, []string{"restore", "--workspace-mode=current", name}, "k-1 | kitty | restored | *")
	if at := where(); at != "7" {
		t.Errorf("restored on %q, expected where the user is", at)
	}

	// The name of a workspace is not a command.
	f.with(`GIT_EDITOR=sed -i 's|"workspace": .*|"workspace": "9; exec touch `+f.path("pwned")+`",|'`).domarkx("edit", name)
	o := f.expect(0, []string{"restore", name}, "k-1 | kitty | restored | *")
	if !strings.Contains(o.err, "warning") {
		t.Errorf("%s", o)
	}
	f.must("", "swaymsg", "nop") // answered after all before it
	if _, err := os.Stat(f.path("pwned")); err == nil {
		t.Error("a command in the document was run")
	}
}
