package zeus_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

// inKitty returns an entry of an agent in a window of kitty, whose session exists.
func (d *desktop) inKitty(id string) zeus.Entry {
	return zeus.Entry{Kind: zeusformat.Kitty, ID: id, Name: "named " + id, Role: "hippeus", Directory: d.home, Workspace: "3: web", Path: d.write("sessions/"+id+".jsonl", piSession, 0o666)}
}

// opens puts a kitty in PATH that opens a window: it runs a program in a pseudoterminal, as one window of sway on
// workspace 1.
func (d *desktop) opens(windows ...string) {
	d.Helper()
	d.kitty(windows...)
	d.write("bin/kitty", `#!/bin/sh
PATH=/usr/bin:/bin
case "$4" in
ls) exec cat '`+d.path("ls.json")+`' ;;
close-window) echo '[]' >'`+d.path("ls.json")+`'; exit ;;
get-text) exit ;;
esac
echo "$PWD $ZEUS_AGENT_ID $ZEUS_AGENT_NAME $ZEUS_SESSION_PATH parent=$ZEUS_PARENT_ID $*" >'`+d.path("kitty.new")+`'
mv '`+d.path("kitty.new")+`' '`+d.path("kitty.started")+`'
echo '{"type":"root","nodes":[{"type":"output","nodes":[{"type":"workspace","name":"1","floating_nodes":[{"type":"con","pid":'$$',"name":"pi"}]}]}]}' >'`+d.path("tree")+`'
exec script -qc "sleep 3" /dev/null </dev/null >/dev/null
`, 0o777)
}

// sway puts a swaymsg in PATH. If obeys is set, it moves windows as asked; otherwise it only records the commands.
func (d *desktop) sway(obeys bool) {
	d.Helper()
	move := ""
	if obeys {
		move = `case "$2" in *"move container to workspace"*) name=${2#*workspace \"}; sed "s/\"name\":\"1\"/\"name\":\"${name%\"}\"/" <'` + d.path("tree") + `' >'` + d.path("tree.new") + `'; mv '` + d.path("tree.new") + `' '` + d.path("tree") + `' ;; esac`
	}
	d.write("bin/swaymsg", `#!/bin/sh
PATH=/usr/bin:/bin
case "$2" in
get_tree) if [ -e '`+d.path("tree")+`' ]; then exec cat '`+d.path("tree")+`'; fi; echo '{}' ;;
*) echo "$2" | sed 's/pid=[0-9]*/pid=N/' >>'`+d.path("commands")+`'
`+move+` ;;
esac
`, 0o777)
}

func (d *desktop) read(name string) string {
	d.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil && !os.IsNotExist(err) {
		d.Fatal(err)
	}
	return string(data)
}

// TestRestoreInKitty starts an agent in a window and moves that to the workspace where it was.
func TestRestoreInKitty(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(d *desktop, e *zeus.Entry, r *zeus.RestoreRequest)
		outcome  []string
		commands string
	}{
		"to its workspace": {nil, nil, "[pid=N] move container to workspace \"3: web\"\nworkspace \"3: web\"\n[pid=N] focus\n"},
		"to the current workspace": {func(_ *desktop, _ *zeus.Entry, r *zeus.RestoreRequest) { r.Workspace = zeus.WorkspaceCurrent },
			nil, ""},
		"its workspace is not known": {func(_ *desktop, e *zeus.Entry, _ *zeus.RestoreRequest) { e.Workspace = "?" }, nil, ""},
		"a workspace that is a command": {func(_ *desktop, e *zeus.Entry, _ *zeus.RestoreRequest) { e.Workspace = `1"; exec touch pwned; "` },
			[]string{`warning: named k: workspace "1\"; exec touch pwned; \"": a name with these characters is not given to sway`}, ""},
		"sway refuses": {func(d *desktop, _ *zeus.Entry, _ *zeus.RestoreRequest) { d.sway(false) },
			[]string{`warning: named k: moving its window to workspace "3: web": it is on "1"`}, "[pid=N] move container to workspace \"3: web\"\nworkspace \"3: web\"\n[pid=N] focus\n"},
		"sway does not run": {func(d *desktop, _ *zeus.Entry, _ *zeus.RestoreRequest) {
			d.write("bin/swaymsg", "#!/bin/sh\necho 'no socket' >&2; exit 1\n", 0o777)
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			t.Setenv("ZEUS_PARENT_ID", "of this program")
			d.opens()
			d.sway(true)
			e := d.inKitty("k")
			r := zeus.RestoreRequest{Workspace: zeus.WorkspaceOriginal, IfRunning: zeus.IfRunningError}
			if test.change != nil {
				test.change(d, &e, &r)
			}
			r.Entries = []zeus.Entry{e}
			d.expect(d.restore(r), append([]string{"k restored in a kitty window"}, test.outcome...)...)
			if got := d.read("commands"); got != test.commands {
				t.Errorf("sway was told\n%s", got)
			}
			got := strings.ReplaceAll(d.read("kitty.started"), d.home, "~")
			if !strings.HasPrefix(got, "~ k named k ~/sessions/k.jsonl parent= --directory . --hold ") || !strings.HasSuffix(got, " --session \"$ZEUS_SESSION_PATH\"\n") {
				t.Errorf("kitty was started as %q", got)
			}
		})
	}
}

// TestKittyThatEnds checks the error when kitty opens no window.
func TestKittyThatEnds(t *testing.T) {
	for name, test := range map[string]struct {
		kitty string
		want  []string
	}{
		"with a reason": {"echo 'cannot open display' >&2; echo more >&2; exit 1", []string{"k failed kitty ended: cannot open display"}},
		"silently":      {"exit 3", []string{"k failed kitty ended: exit status 3"}},
		"in order":      {"exit 0", []string{"k restored in a kitty window", "warning: named k: kitty has opened no window yet"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			d.kitty()
			d.write("bin/kitty", "#!/bin/sh\nif [ \"$4\" = ls ]; then echo '[]'; exit; fi\n"+test.kitty+"\n", 0o777)
			d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{d.inKitty("k")}, IfRunning: zeus.IfRunningError}), test.want...)
		})
	}
	d := newDesktop(t)
	t.Setenv("PATH", d.mkdir("nothing"))
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{d.inKitty("k")}}), "k failed kitty: not installed")
}

// TestReplaceInKitty closes the window of an agent before it starts it again.
func TestReplaceInKitty(t *testing.T) {
	d := newDesktop(t)
	e := d.inKitty("k")
	d.opens(`{"id":7,"pid":1,"cwd":"/w","env":{"ZEUS_AGENT_NAME":"n","ZEUS_AGENT_ID":" k ","ZEUS_SESSION_PATH":"` + e.Path + `"},"cmdline":["pi"]}`)
	if rows, _, err := d.terminals.Restore(t.Context(), zeus.RestoreRequest{Entries: []zeus.Entry{e}, IfRunning: zeus.IfRunningError}); err == nil || rows[0].Detail != "runs already" || !strings.Contains(err.Error(), "these agents run already: k;") {
		t.Errorf("got %+v, %v", rows, err)
	}
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{e}, IfRunning: zeus.IfRunningReplace}), "k restored in a kitty window")
	if got := d.read("ls.json"); strings.TrimSpace(got) != "[]" {
		t.Errorf("the window is still there: %s", got)
	}
}

// TestWorkspaces checks on which workspace of sway an agent's window is found.
func TestWorkspaces(t *testing.T) {
	self := os.Getpid()
	window := func(pid, platform int, name string) string {
		return fmt.Sprintf(`{"type":"con","pid":%d,"window":%d,"name":%q}`, pid, platform, name)
	}
	tree := func(first, second string) string {
		return `{"type":"root","nodes":[{"type":"workspace","name":"one","nodes":[` + first + `]},{"type":"workspace","name":"two","nodes":[{"type":"con","nodes":[` + second + `]}]}]}`
	}
	for name, test := range map[string]struct{ tree, want string }{
		"its process":           {tree("", window(self, 0, "x")), "two"},
		"a parent of it":        {tree("", window(os.Getppid(), 0, "x")), "two"},
		"its platform's number": {tree(window(self, 1, "title"), window(self, 42, "x")), "two"},
		"its title":             {tree(window(self, 1, "x"), window(self, 2, "title")), "two"},
		"it is not clear":       {tree(window(self, 1, "x"), window(self, 2, "y")), "?"},
		"all on one":            {tree(window(self, 1, "x")+","+window(self, 2, "y"), ""), "one"},
		"of another program":    {tree("", window(1<<30, 0, "title")), "?"},
		"no tree":               {"x", "?"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			d.write("own.jsonl", piSession, 0o666)
			d.write("tree", test.tree, 0o666)
			d.kitty(fmt.Sprintf(`{"id":1,"pid":%d,"title":"title","cwd":"/w","env":{"ZEUS_AGENT_NAME":"n","ZEUS_AGENT_ID":"w","ZEUS_SESSION_PATH":"%s"},"cmdline":["pi"]}`, self, d.path("own.jsonl")))
			d.write("ls.json", strings.Replace(d.read("ls.json"), `{"tabs"`, `{"platform_window_id":42,"tabs"`, 1), 0o666)
			d.sway(false)
			snapshot, rows, err := d.terminals.Snapshot(d.discover(), "host", time.Unix(0, 0))
			if err != nil || snapshot == nil {
				t.Fatalf("%v: %+v", err, rows)
			}
			if want := fmt.Sprintf("%q: %q", "workspace", test.want); !strings.Contains(string(snapshot), want) {
				t.Errorf("expected %s in %s", want, snapshot)
			}
		})
	}
}

// TestFoundSockets checks that without configuration only sockets of the user are asked, and that one which does not
// answer does not keep agents elsewhere from being found.
func TestFoundSockets(t *testing.T) {
	d := newDesktop(t)
	d.kitty()
	d.write("sockets/kitty-file", "not a socket", 0o666)
	listener, err := net.Listen("unix", d.path("sockets/kitty-1"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d.write("bin/kitty", "#!/bin/sh\necho \"$3\" >>'"+d.path("asked")+"'\necho '[]'\n", 0o777)
	d.terminals.Kitty = []string{"unix:" + d.path("sockets/kitty-*")}
	if live, err := d.terminals.Discover(t.Context()); err != nil || len(live.Agents) > 0 {
		t.Errorf("got %+v, %v", live, err)
	}
	if asked := d.read("asked"); strings.Contains(asked, "kitty-file") || !strings.Contains(asked, "kitty-1") {
		t.Errorf("it asked %q", asked)
	}
	d.write("bin/kitty", "#!/bin/sh\necho 'busy' >&2; exit 1\n", 0o777)
	live, err := d.terminals.Discover(t.Context())
	if err != nil && !strings.Contains(err.Error(), "busy") || err == nil && len(live.Warnings) == 0 {
		t.Errorf("one that does not answer: %+v, %v", live, err)
	}
}

// kept is a session file that a snapshot holds.
type kept struct {
	*strings.Reader
	closed *int
}

func (k kept) Close() error { *k.closed++; return nil }

// TestSessionsFromSnapshots checks where missing session files are written, and that nothing is written over.
func TestSessionsFromSnapshots(t *testing.T) {
	digest := func(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }
	for name, test := range map[string]struct {
		path, dir string // below the home directory
		data      string
		exists    map[string]string
		want      string // outcome after "restored" or "failed"
		written   string // the file that has the data afterwards
	}{
		"at its place":        {"gone/a.jsonl", "", piSession, nil, `restored in the tmux session "s"`, "gone/a.jsonl"},
		"in a directory":      {"gone/a.jsonl", "new", piSession, nil, `restored in the tmux session "s"`, "new/a.jsonl"},
		"another of its name": {"gone/a.jsonl", "new", piSession, map[string]string{"new/a.jsonl": "other"}, `restored in the tmux session "s"`, "new/a-" + digest(piSession)[:12] + ".jsonl"},
		"it has gone on":      {"gone/a.jsonl", "new", piSession, map[string]string{"new/a.jsonl": piSession + "{}\n"}, `restored in the tmux session "s"`, ""},
		"both names are taken": {"gone/a.jsonl", "new", piSession, map[string]string{"new/a.jsonl": "other", "new/a-" + digest(piSession)[:12] + ".jsonl": "another"},
			"failed writing its session: ~/new has other files of its name", ""},
		"a hidden name":              {"gone/.jsonl", "new", piSession, nil, `restored in the tmux session "s"`, "new/session.jsonl"},
		"upwards":                    {"gone/../../x/a.jsonl", "", piSession, nil, "failed", ""},
		"a program":                  {"gone/.bashrc", "", piSession, nil, "failed", ""},
		"no session":                 {"gone/a.jsonl", "", "#!/bin/sh\n", nil, "failed the file of its session is missing: ~/gone/a.jsonl; it cannot be written there: invalid: what was kept is no session of pi; write it elsewhere with --session-dir", ""},
		"no session, in a directory": {"gone/a.jsonl", "new", "#!/bin/sh\n", nil, "failed writing its session: invalid: what was kept is no session of pi", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t)
			for path, text := range test.exists {
				d.write(path, text, 0o666)
			}
			e := d.stygian("e", "s")
			e.Path, e.Digest = d.home+"/"+test.path, digest(test.data)
			closed := 0
			request := zeus.RestoreRequest{Entries: []zeus.Entry{e}, Kept: func(_ context.Context, asked string) (domarkx.Content, error) {
				if asked != e.Digest {
					return nil, domarkx.ErrNotFound
				}
				return kept{strings.NewReader(test.data), &closed}, nil
			}}
			if test.dir != "" {
				request.SessionDir = d.path(test.dir)
			}
			got := d.restore(request)
			if line := strings.ReplaceAll(got[0], d.home, "~"); !strings.HasPrefix(line, "e "+test.want) {
				t.Errorf("got %s, expected %s", line, test.want)
			}
			if test.written != "" && d.read(test.written) != test.data {
				t.Errorf("%s has %q", test.written, d.read(test.written))
			}
			for path, text := range test.exists {
				if d.read(path) != text {
					t.Errorf("%s was changed: %q", path, d.read(path))
				}
			}
			if closed != 1 {
				t.Errorf("the content was closed %d times", closed)
			}
			if _, err := os.Lstat(d.path("../x")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a directory above was created: %v", err)
			}
		})
	}
	d := newDesktop(t)
	e := d.stygian("e", "s")
	e.Path, e.Digest = d.path("gone.jsonl"), digest("x")
	d.expect(d.restore(zeus.RestoreRequest{Entries: []zeus.Entry{e}, Kept: func(context.Context, string) (domarkx.Content, error) { return nil, errors.New("damaged") }}),
		"e failed the file of its session is missing: ~/gone.jsonl; it cannot be written: damaged")
}
