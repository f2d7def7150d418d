//go:build linux

package process_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/process"
)

func TestMain(m *testing.M) {
	if code, ok := process.Supervise(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// daemon starts processes that leave their session and parent, and waits.
const daemon = `setsid sh -c 'echo $$ > d1; exec sleep 1000' &
(setsid sh -c 'echo $$ > d2; trap "" TERM HUP INT; while :; do sleep 1000; done' & )
while [ ! -s d1 ] || [ ! -s d2 ]; do sleep 0.01; done
touch ready; sleep 1000`

func start(program, dir string, env ...string) (*process.Program, error) {
	return process.NewRunner(true).Start(process.Command{Program: program, Args: []string{program}, Dir: dir, Env: env})
}

// script writes a program.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestProgramTalks(t *testing.T) {
	dir := t.TempDir()
	p, err := start(script(t, "echo $A >&2; pwd; read x; echo got $x; exit 3"), dir, "A=b")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	out := bufio.NewReader(p.Stdout)
	if line, err := out.ReadString('\n'); line != dir+"\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if _, err := p.Stdin.WriteString("hello\n"); err != nil {
		t.Error(err)
	}
	rest, err := io.ReadAll(out)
	if string(rest) != "got hello\n" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	errs, err := io.ReadAll(p.Stderr)
	if string(errs) != "b\n" || err != nil {
		t.Errorf("%q, %v", errs, err)
	}
	<-p.Done()
	if p.ExitCode() != 3 {
		t.Error(p.ExitCode())
	}
}

func TestProgramIsKilledWithItsDaemons(t *testing.T) {
	dir := t.TempDir()
	p, err := start(script(t, "PATH=/usr/bin:/bin\n"+daemon), dir)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the program did not start its daemons")
		}
	}
	began := time.Now()
	p.Kill()
	p.Kill()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	idle(t, dir)
}

func TestProgramIsNotExecuted(t *testing.T) {
	for name, c := range map[string]process.Command{
		"no program":   {Program: filepath.Join(t.TempDir(), "none"), Args: []string{"none"}, Dir: "/"},
		"no directory": {Program: "/bin/true", Args: []string{"true"}, Dir: filepath.Join(t.TempDir(), "none")},
		"a directory":  {Program: t.TempDir(), Args: []string{"directory"}, Dir: "/"},
	} {
		p, err := process.NewRunner(true).Start(c)
		var tool *domarkx.ToolError
		if !errors.As(err, &tool) || tool.Code != domarkx.CodeFailed || !strings.Contains(tool.Message, c.Program) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			p.Kill()
		}
	}
}

// TestKilledProgram checks that a program killed by its caller looks killed, and that Kill may follow its end.
func TestKilledProgram(t *testing.T) {
	p, err := start("/bin/cat", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
		t.Error("the program ended by itself")
	default:
	}
	p.Kill()
	select {
	case <-p.Done():
	default:
		t.Error("Kill returned before the end")
	}
	if _, err := p.Stdin.WriteString("x"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing: %v", err)
	}
	p.Kill()
}

// TestProgramClosesItsOutput checks that a reader sees the end of the output while the program goes on.
func TestProgramClosesItsOutput(t *testing.T) {
	p, err := start(script(t, "echo out; exec >&- 2>&-; read x; exit 5"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	out, err := io.ReadAll(p.Stdout)
	if string(out) != "out\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := io.ReadAll(p.Stderr); len(out) > 0 || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	select {
	case <-p.Done():
		t.Error("the program ended")
	default:
	}
	if err := p.Stdin.Close(); err != nil {
		t.Error(err)
	}
	if <-p.Done(); p.ExitCode() != 5 {
		t.Errorf("exit code %d", p.ExitCode())
	}
}

// TestFinishIsCancelled checks that output written before the end of the context is not lost.
func TestFinishIsCancelled(t *testing.T) {
	dir := t.TempDir()
	p, err := start(script(t, "PATH=/usr/bin:/bin\necho before\n"+daemon), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	if _, err := p.Finish(ctx, &onWrite{w: &out, then: cancel}, nil); !errors.Is(err, context.Canceled) || out.String() != "before\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	idle(t, dir)
}
