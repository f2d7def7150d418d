//go:build linux

package process_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/process"
)

// shell returns a command that runs a script in a directory of its own.
func shell(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = t.TempDir()
	return cmd
}

func TestRunEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script      string
		out, errors string
		exit        int
		exited      bool
	}{
		"well":                      {"echo out; echo err >&2", "out\n", "err\n", 0, true},
		"with a code":               {"echo out; exit 3", "out\n", "", 3, true},
		"by a signal":               {"kill -TERM $$", "", "", 128 + 15, false},
		"without reading its input": {"exec <&-; echo out", "out\n", "", 0, true},
		"after closing its output":  {"exec >&- 2>&-; exit 4", "", "", 4, true},
		"before its children":       {"(sleep 1000; echo late) & echo out", "out\n", "", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := shell(t, c.script)
			var out, errs bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Repeat("x", 1<<20)), &out, &errs
			err := process.Run(t.Context(), cmd)
			var exit *process.ExitError
			if code := 0; errors.As(err, &exit) {
				if code = exit.ExitCode(); code != c.exit || exit.Exited() != c.exited || !strings.Contains(exit.Error(), "exit status ") {
					t.Errorf("%v: exit code %d, exited %v", err, code, exit.Exited())
				}
			} else if err != nil || c.exit != 0 {
				t.Errorf("%v, expected exit code %d", err, c.exit)
			}
			if out.String() != c.out || errs.String() != c.errors {
				t.Errorf("output %q, errors %q", out.String(), errs.String())
			}
			idle(t, cmd.Dir)
		})
	}
}

func TestRunPassesBytes(t *testing.T) {
	odd := "a\xff b\n\x01"
	dir := filepath.Join(t.TempDir(), odd)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var input [1 << 18]byte
	for i := range input {
		input[i] = byte(i)
	}
	var out bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", `printf '%s|%s|%s|' "$1" "$ODD" "${PWD##*/}"; cat`, "sh", odd)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = dir, []string{"PATH=/usr/bin:/bin", "ODD=" + odd}, bytes.NewReader(input[:]), &out
	if err := process.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	if want := odd + "|" + odd + "|" + odd + "|" + string(input[:]); out.String() != want {
		t.Errorf("%d bytes that begin %q", out.Len(), out.String()[:min(40, out.Len())])
	}
}

func TestRunCannotStart(t *testing.T) {
	notExecutable := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notExecutable, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		cmd  *exec.Cmd
		want string
	}{
		"a program that PATH lacks": {t.Context(), exec.Command("no-such-program-anywhere"), "executable file not found"},
		"no such program":           {t.Context(), &exec.Cmd{Path: "/nonexistent/x", Args: []string{"x"}}, `running "/nonexistent/x"`},
		"a file of no program":      {t.Context(), exec.Command(notExecutable), "permission denied"},
		"no such directory":         {t.Context(), &exec.Cmd{Path: "/bin/true", Args: []string{"true"}, Dir: "/nonexistent"}, `running "/bin/true"`},
		"a context that ended":      {ended, exec.Command("/bin/true"), context.Canceled.Error()},
	} {
		if err := process.Run(c.ctx, c.cmd); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}

func TestRunIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := shell(t, "echo partial; "+daemon)
	var out bytes.Buffer
	cmd.Stdout = &onWrite{w: &out, then: cancel}
	if err := process.Run(ctx, cmd); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if out.String() != "partial\n" {
		t.Errorf("output %q", out.String())
	}
	idle(t, cmd.Dir)
}

// TestRunLosesItsSupervisor checks that a command whose end nobody saw does not count as one that ended well.
func TestRunLosesItsSupervisor(t *testing.T) {
	cmd := shell(t, "kill -KILL $PPID; exec sleep 1000")
	if err := process.Run(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("%v, expected that the supervisor was killed", err)
	}
	idle(t, cmd.Dir)
}

// TestReaderOfOutputFails checks that a command which writes without end does not run on
// when nobody takes its output.
func TestReaderOfOutputFails(t *testing.T) {
	full := errors.New("no space left")
	for name, redirect := range map[string]string{"output": "", "errors": " >&2"} {
		t.Run(name, func(t *testing.T) {
			cmd := shell(t, "yes"+redirect)
			cmd.Stdout, cmd.Stderr = failing{full}, failing{full}
			err := process.Run(t.Context(), cmd)
			if !errors.Is(err, full) || !strings.Contains(err.Error(), `reading the output of "/bin/sh"`) {
				t.Error(err)
			}
			idle(t, cmd.Dir)
		})
	}
}
