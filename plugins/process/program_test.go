//go:build linux

package process_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	return process.Start(process.Command{Program: program, Args: []string{program}, Dir: dir, Env: env})
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
	errors, err := io.ReadAll(p.Stderr)
	if string(errors) != "b\n" || err != nil {
		t.Errorf("%q, %v", errors, err)
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

func TestNoProgram(t *testing.T) {
	if p, err := start(filepath.Join(t.TempDir(), "none"), "/"); err == nil {
		p.Kill()
		t.Error("it started")
	}
}
