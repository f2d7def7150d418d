//go:build linux

package localshell_test

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	localshell "github.com/domarkx/domarkx/plugins/local_shell"
)

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
	p, err := localshell.StartProgram(script(t, "echo $A >&2; pwd; read x; echo got $x; exit 3"), dir, []string{"A=b"})
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
	p, err := localshell.StartProgram(script(t, "PATH=/usr/bin:/bin\n"+daemon), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the program", func() bool { _, err := os.Stat(filepath.Join(dir, "ready")); return err == nil })
	began := time.Now()
	p.Kill()
	p.Kill()
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	allDead(t, dir)
}

func TestNoProgram(t *testing.T) {
	if p, err := localshell.StartProgram(filepath.Join(t.TempDir(), "none"), "/", nil); err == nil {
		p.Kill()
		t.Error("it started")
	}
}
