package agent_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
)

func TestRun(t *testing.T) {
	c := start(t)
	for _, test := range []struct {
		name    string
		command agent.Command
		code    int
		output  string
	}{
		{"output and exit code", agent.Command{Args: []string{"sh", "-c", "echo out; echo err >&2; exit 3"}}, 3, "out\nerr\n"},
		{"a path", agent.Command{Args: []string{"/bin/sh", "-c", "echo $0", "name"}}, 0, "name\n"},
		{"no input", agent.Command{Args: []string{"cat"}}, 0, ""},
		{"killed by a signal", agent.Command{Args: []string{"sh", "-c", "kill -9 $$"}}, 137, ""},
		{"process 1 is protected", agent.Command{Args: []string{"sh", "-c", "kill -9 1; echo x >/proc/1/fd/1 || echo refused"}}, 0,
			"sh: can't create /proc/1/fd/1: Permission denied\nrefused\n"},
		{"environment", agent.Command{Args: []string{"env"}, Env: []string{"A=b c", "PATH=/bin"}}, 0, "A=b c\nPATH=/bin\nHOME=/root\n"},
		{"HOME is kept", agent.Command{Args: []string{"/bin/env"}, Env: []string{"HOME=/h"}}, 0, "HOME=/h\n"},
		{"default directory", agent.Command{Args: []string{"pwd"}}, 0, "/\n"},
		{"directory is created", agent.Command{Args: []string{"pwd"}, Dir: "/new/dir"}, 0, "/new/dir\n"},
	} {
		var out bytes.Buffer
		code, err := c.Run(context.Background(), test.command, &out)
		if err != nil || code != test.code || out.String() != test.output {
			t.Errorf("%s: exit code %d, %v, output %q; expected %d and %q", test.name, code, err, out.String(), test.code, test.output)
		}
	}
}

func TestRunAsUser(t *testing.T) {
	c := start(t)
	for user, want := range map[string]string{
		"":           "uid=0(root) gid=0(root) /root\n",
		"root":       "uid=0(root) gid=0(root) /root\n",
		"ann":        "uid=1000(ann) gid=1000(ann) groups=50(staff) /home/ann\n",
		"1000":       "uid=1000(ann) gid=1000(ann) groups=50(staff) /home/ann\n",
		"ann:staff":  "uid=1000(ann) gid=50(staff) /home/ann\n",
		"ann:7":      "uid=1000(ann) gid=7 /home/ann\n",
		"4711":       "uid=4711 gid=0(root) /\n",
		"4711:staff": "uid=4711 gid=50(staff) /\n",
	} {
		var out bytes.Buffer
		code, err := c.Run(context.Background(), agent.Command{Args: []string{"sh", "-c", `echo "$(id) $HOME"`}, User: user}, &out)
		if code != 0 || err != nil || out.String() != want {
			t.Errorf("%q: %d, %v, %q, expected %q", user, code, err, out.String(), want)
		}
	}
}

// TestRunFails checks that a command that cannot start is an error after which the agent works.
func TestRunFails(t *testing.T) {
	c := start(t)
	c.write("bin/not-a-program", "\x7fELF")
	for _, test := range []struct {
		command   agent.Command
		noProgram bool
		message   string
	}{
		{agent.Command{Args: []string{"none"}}, true, `"none"`},
		{agent.Command{Args: []string{"/bin/none"}}, true, `"/bin/none"`},
		{agent.Command{Args: []string{"sh"}, Env: []string{"PATH=/etc"}}, true, `"sh"`},
		{agent.Command{}, false, "no command"},
		{agent.Command{Args: []string{"not-a-program"}}, false, "exec format error"},
		{agent.Command{Args: []string{"sh"}, User: "nobody-here"}, false, `no user "nobody-here"`},
		{agent.Command{Args: []string{"sh"}, User: "ann:nobody-here"}, false, `no group "nobody-here"`},
		{agent.Command{Args: []string{"sh"}, Dir: "/etc/passwd/x"}, false, "working directory"},
	} {
		_, err := c.Run(context.Background(), test.command, io.Discard)
		var refused *agent.RequestError
		if errors.Is(err, agent.ErrNoProgram) != test.noProgram || errors.As(err, &refused) == test.noProgram || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%+v: %v, expected %q", test.command, err, test.message)
		}
	}
	if code, out := c.sh("echo works"); code != 0 || out != "works\n" {
		t.Errorf("afterwards: %d %q", code, out)
	}
}

// TestCancelKillsEverything cancels a command that started daemons. They must be dead, except for
// detached commands, which are started again.
func TestCancelKillsEverything(t *testing.T) {
	c := start(t)
	c.detach("echo started >> /detached; exec sleep 1000")
	eventually(t, "the detached command runs", func() bool { return c.read("detached") == "started\n" })
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := &cancelOn{text: "ready\n", cancel: cancel}
	_, err := c.Run(ctx, agent.Command{Args: []string{"sh", "-c", "setsid sh -c 'setsid sleep 1000 & sleep 1000' & (sleep 1000 &); trap '' TERM; echo ready; sleep 1000"}}, out)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	eventually(t, "the detached command runs again", func() bool { return c.read("detached") == "started\nstarted\n" })
	eventually(t, "only the detached command is left", func() bool { return c.processes() == 1 })
	if code, out := c.sh("echo works"); code != 0 || out != "works\n" {
		t.Errorf("afterwards: %d %q", code, out)
	}
}

// cancelOn calls cancel when a text was written to it.
type cancelOn struct {
	bytes.Buffer
	text   string
	cancel context.CancelFunc
}

func (c *cancelOn) Write(p []byte) (int, error) {
	n, err := c.Buffer.Write(p)
	if strings.Contains(c.String(), c.text) {
		c.cancel()
	}
	return n, err
}

// read reads a file of the container from outside; "" if it does not exist.
func (c *container) read(path string) string {
	data, _ := os.ReadFile(filepath.Join(c.root, path))
	return string(data)
}

// TestBackground checks that a command's result does not wait for processes that it left behind, even
// if they have its output open, and contains all of its own output.
func TestBackground(t *testing.T) {
	c := start(t)
	code, out := c.sh("sleep 1000 & i=0; while test $i -lt 3000; do echo 0123456789; i=$((i+1)); done")
	if code != 0 || out != strings.Repeat("0123456789\n", 3000) {
		t.Errorf("%d, %d bytes", code, len(out))
	}
	if n := c.processes(); n != 1 {
		t.Errorf("%d processes, expected the one in the background", n)
	}
}

// TestOrphansAreReaped checks that ended orphans do not count as running processes.
func TestOrphansAreReaped(t *testing.T) {
	c := start(t)
	for range 20 {
		c.sh("(setsid sh -c 'exit 0' &)")
	}
	eventually(t, "no process is left", func() bool {
		f, err := c.Freeze()
		if err := errors.Join(err, c.Thaw()); err != nil {
			t.Fatal(err)
		}
		return !f.Busy
	})
}

func TestFreeze(t *testing.T) {
	c := start(t)
	c.detach("echo $$ > /pid; while true; do echo x >> /log; done")
	eventually(t, "the command writes", func() bool { return c.read("log") != "" })
	state := func() string {
		var stat string
		err := c.Read([]string{"proc/" + strings.TrimSpace(c.read("pid")) + "/stat"}, func(_ int, r io.Reader) error {
			data, err := io.ReadAll(r)
			stat = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(stat[strings.LastIndex(stat, ")")+1:])[0]
	}
	f, err := c.Freeze()
	if err != nil || !f.Busy || f.Now == 0 {
		t.Errorf("frozen: %+v, %v", f, err)
	}
	eventually(t, "the command is stopped", func() bool { return state() == "T" })
	before := c.read("log")
	if err := c.Scan(func(agent.Entry) error { return nil }); err != nil {
		t.Error(err)
	}
	if after := c.read("log"); after != before {
		t.Error("the command wrote while it was frozen")
	}
	if err := c.Thaw(); err != nil {
		t.Error(err)
	}
	eventually(t, "the command continues", func() bool { return len(c.read("log")) > len(before) })
}

// TestEndOfInput checks that everything in the container ends when the client is gone.
func TestEndOfInput(t *testing.T) {
	c := start(t)
	c.detach("setsid sleep 1000 & exec sleep 1000")
	eventually(t, "both processes run", func() bool { return c.processes() == 2 })
	c.stdin.Close()
	eventually(t, "all processes ended", func() bool { return c.processes() == 0 })
}
