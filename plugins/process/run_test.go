//go:build linux

package process_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/process"
	"github.com/domarkx/domarkx/plugins/toolresult"
	"golang.org/x/sys/unix"
)

// onWrite writes to w and then calls a function.
type onWrite struct {
	w    io.Writer
	then func()
}

func (o *onWrite) Write(p []byte) (int, error) {
	defer o.then()
	return o.w.Write(p)
}

// failing is a writer that always fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// idle checks that no process works in a directory.
func idle(t *testing.T, dir string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && at == dir {
			t.Errorf("%s is still alive", link)
		}
	}
}

// eachRunner runs a test with namespaces and without.
func eachRunner(t *testing.T, test func(t *testing.T, r *process.Runner)) {
	t.Helper()
	for name, namespaces := range map[string]bool{"namespaces": true, "no namespaces": false} {
		t.Run(name, func(t *testing.T) { test(t, process.NewRunner(namespaces)) })
	}
}

// scriptIn returns a command that runs a script in a directory.
func scriptIn(dir, script string) process.Command {
	return process.Command{Program: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
}

func TestRunnerReportsHowACommandEnds(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		for _, c := range []struct {
			script string
			exit   int
			out    string
		}{
			{"echo out; echo err >&2", 0, "out\nerr\n"},
			{"exit 7", 7, ""},
			{"exit 255", 255, ""},
			{"kill -KILL $$", 128 + 9, ""},
			{"cat", 0, ""}, // its input is empty
			{"sh -c 'sleep 1000 & exec setsid sleep 1000' & echo out", 0, "out\n"},
		} {
			dir := t.TempDir()
			var out bytes.Buffer
			status, err := r.Run(t.Context(), scriptIn(dir, c.script), &out)
			if want := (toolresult.Status{ExitCode: c.exit}); status != want || err != nil || out.String() != c.out {
				t.Errorf("%s: %+v, %q, %v", c.script, status, out.String(), err)
			}
			idle(t, dir)
		}
	})
}

func TestCommandInheritsNoFiles(t *testing.T) {
	fd, err := unix.Dup(0) // stays open in the programs that this one executes
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		for _, confined := range []bool{false, process.CanConfine()} {
			c := scriptIn(t.TempDir(), fmt.Sprintf("! test -e /proc/self/fd/%d", fd))
			c.Confined = confined
			if status, err := r.Run(t.Context(), c, io.Discard); err != nil || status.ExitCode != 0 {
				t.Errorf("confined %v: %+v, %v", confined, status, err)
			}
		}
	})
}

func TestRunnerIsStopped(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		for name, c := range map[string]struct {
			status toolresult.Status
			err    error
			end    func() (context.Context, func())
		}{
			"by the end of its context": {toolresult.Status{}, context.Canceled, func() (context.Context, func()) {
				ctx, cancel := context.WithCancel(t.Context())
				return ctx, cancel
			}},
			"by a deadline": {toolresult.Status{ExitCode: -1, TimedOut: true}, nil, func() (context.Context, func()) {
				ctx := newDeadline(t.Context())
				return ctx, func() { close(ctx.passed) }
			}},
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				ctx, end := c.end()
				var out bytes.Buffer
				began := time.Now()
				status, err := r.Run(ctx, scriptIn(dir, "echo partial; "+daemon), &onWrite{w: &out, then: end})
				if took := time.Since(began); took > 5*time.Second { // as long as a supervisor may take
					t.Errorf("took %v", took)
				}
				if status != c.status || !errors.Is(err, c.err) || out.String() != "partial\n" {
					t.Errorf("%+v, %q, %v", status, out.String(), err)
				}
				idle(t, dir)
			})
		}
	})
}

// deadline is a context whose deadline passes when the test says so.
type deadline struct {
	context.Context
	passed chan struct{}
}

func newDeadline(ctx context.Context) deadline { return deadline{ctx, make(chan struct{})} }

func (d deadline) Done() <-chan struct{}       { return d.passed }
func (d deadline) Deadline() (time.Time, bool) { return time.Time{}, true }
func (d deadline) Err() error {
	select {
	case <-d.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestRunnerCannotRun(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		none := scriptIn(t.TempDir(), "true")
		none.Program = filepath.Join(none.Dir, "none")
		nowhere := scriptIn(filepath.Join(t.TempDir(), "none"), "true")
		for name, c := range map[string]process.Command{"no program": none, "no directory": nowhere} {
			for _, confined := range []bool{false, true} {
				c.Confined, c.Writable = confined, []string{t.TempDir()}
				_, err := r.Run(t.Context(), c, io.Discard)
				var tool *domarkx.ToolError
				if !errors.As(err, &tool) || tool.Code != domarkx.CodeFailed || !strings.Contains(tool.Message, "no such file") {
					t.Errorf("%s, confined %v: %v", name, confined, err)
				}
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := r.Run(ended, scriptIn(t.TempDir(), "true"), io.Discard); !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that ended: %v", err)
		}
	})
}

// TestOutputCannotBeKept checks that a command which writes without end does not run on
// when its output cannot be stored.
func TestOutputCannotBeKept(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		dir, full := t.TempDir(), errors.New("no space left")
		_, err := r.Run(t.Context(), scriptIn(dir, "yes"), failing{full})
		if !errors.Is(err, full) || !strings.Contains(err.Error(), `reading the output of "/bin/sh"`) {
			t.Error(err)
		}
		idle(t, dir)
	})
}

// TestRunnerClosesItsFiles counts the files of this process that stay open however a command ends.
func TestRunnerClosesItsFiles(t *testing.T) {
	r := process.NewRunner(true)
	open := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	run := func() {
		ctx, cancel := context.WithCancel(t.Context())
		missing := scriptIn(t.TempDir(), "")
		missing.Program = "/nonexistent"
		_, _ = r.Run(t.Context(), scriptIn(t.TempDir(), "true"), io.Discard)
		_, _ = r.Run(t.Context(), missing, io.Discard)
		_, _ = r.Run(ctx, scriptIn(t.TempDir(), "echo; sleep 1000"), &onWrite{io.Discard, cancel})
		_, _ = r.Run(t.Context(), scriptIn(t.TempDir(), "echo"), failing{io.ErrShortWrite})
		if p, err := process.NewRunner(true).Start(scriptIn(t.TempDir(), "sleep 1000")); err != nil {
			t.Error(err)
		} else {
			p.Kill()
		}
		_, _ = process.NewRunner(true).Start(missing)
	}
	run() // whatever the runtime opens once
	before := open()
	run()
	if after := open(); after > before {
		t.Errorf("%d files were open, now %d", before, after)
	}
}

// inOne returns a script that runs others, one after the other, and prints <N> after each that succeeds.
func inOne(scripts []string) string {
	var b strings.Builder
	for i, script := range scripts {
		fmt.Fprintf(&b, "(%s) && echo '<%d>'\n", script, i)
	}
	return b.String() + "true"
}

func TestConfinedCommandWritesOnlyItsDirectories(t *testing.T) {
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		mine, second, outside := t.TempDir(), t.TempDir(), t.TempDir()
		kept := filepath.Join(outside, "kept")
		if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
		try := func(script string) (int, string) {
			t.Helper()
			c := scriptIn(mine, script)
			c.Confined, c.Writable = true, []string{mine, second}
			var out bytes.Buffer
			status, err := r.Run(t.Context(), c, &out)
			if err != nil {
				t.Fatalf("%s: %v", script, err)
			}
			return status.ExitCode, out.String()
		}
		allowed := []string{
			"echo x > here && rm here", "mkdir -p d/e && mv d " + second + "/moved", "echo x > " + second + "/f",
			"cat " + kept, "echo x > /dev/null", "head -c 1 /dev/zero", "head -c 1 /dev/urandom", "ls /",
		}
		refused := []string{
			"echo x > " + outside + "/new", "echo x >> " + kept, ": > " + kept, "rm " + kept, "mv " + kept + " " + mine, "mkdir " + outside + "/d",
			"ln " + kept + " hard", "ln -s " + outside + " link; echo x > link/new", "cp /bin/true " + outside, "echo x > ../escaped",
		}
		code, out := try(inOne(append(allowed, refused...)))
		for i, script := range append(allowed, refused...) {
			if ran := strings.Contains(out, fmt.Sprintf("<%d>", i)); ran != (i < len(allowed)) || code != 0 {
				t.Errorf("%s: succeeded %v; exit code %d: %s", script, ran, code, out)
			}
		}
		entries, err := os.ReadDir(outside)
		if data, rerr := os.ReadFile(kept); err != nil || rerr != nil || len(entries) != 1 || string(data) != "kept" {
			t.Errorf("outside: %v, %q, %v, %v", entries, data, err, rerr)
		}
	})
}

func TestSealed(t *testing.T) {
	t.Run("on disk", func(t *testing.T) { checkSealed(t, t.TempDir()) })
	t.Run("in shared memory", func(t *testing.T) {
		dir, err := os.MkdirTemp("/dev/shm", "sealed")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		checkSealed(t, dir)
	})
}

func checkSealed(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"git/config", "file", "sub/deep/git"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("sealed"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("git", link); err != nil {
		t.Fatal(err)
	}
	sealed := []string{filepath.Join(dir, "file"), filepath.Join(dir, "none"), link, filepath.Join(dir, "sub/deep/git")}
	c := scriptIn(dir, "cat link/config file; (echo x > git/config); (echo x > git/new); (echo x > file); rm -f file link; mv git away; mv sub away; mv sub/deep away; echo x > free")
	c.Sealed = sealed
	check := func(status int, out string) {
		t.Helper()
		if status != 0 || !strings.HasPrefix(out, "sealedsealed") {
			t.Errorf("exit code %d: %s", status, out)
		}
		for name, want := range map[string]string{"git/config": "sealed", "file": "sealed", "free": "x\n", "git/new": "", "away": "", "link/config": "sealed", "sub/deep/git": "sealed"} {
			if data, _ := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
				t.Errorf("%s is %q, expected %q", name, data, want)
			}
		}
	}
	for _, confined := range []bool{true, false} {
		c.Confined, c.Writable = confined, []string{dir}
		var out bytes.Buffer
		r := process.NewRunner(true)
		status, err := r.Run(t.Context(), c, &out)
		if err != nil || !r.HasNamespaces() {
			t.Fatalf("confined %v: %v, namespaces %v", confined, err, r.HasNamespaces())
		}
		check(status.ExitCode, out.String())
	}
	p, err := process.NewRunner(true).Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	var out, errs bytes.Buffer
	if _, err := p.Finish(t.Context(), &out, &errs); err != nil {
		t.Error(err)
	}
	check(p.ExitCode(), out.String())
	if data, err := os.ReadFile(filepath.Join(dir, "git/config")); string(data) != "sealed" || err != nil {
		t.Errorf("the seal outside of the command: %q, %v", data, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "git/config"), nil, 0o644); err != nil {
		t.Errorf("the directory is read-only outside of the command: %v", err)
	}
}

// TestNamedSocket checks that a confined command finds only the sockets that it was given.
func TestNamedSocket(t *testing.T) {
	outside, err := os.MkdirTemp("/tmp", "s") // a socket's path is at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(outside)
	for _, name := range []string{"given", "other"} {
		l, err := net.Listen("unix", filepath.Join(outside, name))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	mine := t.TempDir()
	c := scriptIn(mine, "test -S "+outside+"/given && echo given; test -S "+outside+"/other && echo other; true")
	c.Confined, c.Writable, c.Sockets = true, []string{mine}, []string{filepath.Join(outside, "given"), filepath.Join(outside, "none"), "relative"}
	var out bytes.Buffer
	status, err := process.NewRunner(true).Run(t.Context(), c, &out)
	if err != nil || status.ExitCode != 0 || out.String() != "given\n" {
		t.Errorf("%+v, %q, %v", status, out.String(), err)
	}
}

// TestCommandSeesOnlyItself lists the processes that a command in a namespace can see.
func TestCommandSeesOnlyItself(t *testing.T) {
	var out bytes.Buffer
	c := scriptIn("/", `for d in /proc/[0-9]*; do tr '\0' ' ' < $d/cmdline; echo; done; ls /dev/shm`)
	if _, err := process.NewRunner(true).Run(t.Context(), c, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if line != "\n" && !strings.HasPrefix(line, "git-domarkx-supervise") && !strings.HasPrefix(line, "sh -c for d in") && !strings.HasPrefix(line, "tr ") {
			t.Errorf("it sees %q", line)
		}
	}
	if !strings.Contains(out.String(), "git-domarkx-supervise") {
		t.Errorf("it does not see its supervisor: %q", out.String())
	}
}
