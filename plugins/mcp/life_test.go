//go:build linux

package mcp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/mcp"
)

// hang makes a call that does not end, until this process is killed.
func hang(dir string) {
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	config := jsonvalue.ObjectValue().With("command", jsonvalue.StringValue(program)).
		With("env", jsonvalue.ObjectValue().With(serverVariable, jsonvalue.StringValue("")))
	r, err := mcp.New().Open(context.Background(), domarkx.Env{Dir: dir, Config: config})
	if err == nil {
		_, err = r.Execute(context.Background(), call("daemon"))
	}
	if err == nil {
		_, err = r.Execute(context.Background(), call("write", "path", "ready", "content", ""))
	}
	if err == nil {
		_, err = r.Execute(context.Background(), call("hang", "timeout", "1"))
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestDiesWithItsInstance closes a resource whose server started a daemon.
func TestDiesWithItsInstance(t *testing.T) {
	dir := t.TempDir()
	r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "")})
	execute(t, r, call("daemon"))
	if n := len(working(t, dir)); n < 2 {
		t.Fatalf("%d processes run, expected the server and its daemon", n)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left := working(t, dir); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
}

func TestDiesWithTheProgram(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "MCP_TEST_HANG="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the server", func() bool { _, err := os.Stat(filepath.Join(dir, "files/ready")); return err == nil })
	if len(working(t, dir)) < 2 {
		t.Error("nothing runs")
	}
	cmd.Process.Kill()
	cmd.Wait()
	waitFor(t, "the end of all processes", func() bool { return len(working(t, dir)) == 0 })
	r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "")})
	if err := r.TearDown(t.Context()); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestConfinement lets servers write and read outside of their directory.
func TestConfinement(t *testing.T) {
	t.Setenv("MCP_SECRET", "not passed on")
	outside := filepath.Join(t.TempDir(), "f")
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, "", "GREETING", "hi")})
	_, err := r.Execute(t.Context(), call("write", "path", outside, "content", "x"))
	fails(t, err, domarkx.CodeFailed, "open "+outside)
	for name, want := range map[string]string{"GREETING": "hi", "MCP_SECRET": "", "TERM": "dumb"} {
		if got := execute(t, r, call("env", "name", name)); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	home := execute(t, r, call("env", "name", "HOME"))
	execute(t, r, call("write", "path", filepath.Join(home, "f"), "content", "x"))
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("the temporary directory is left: %v", err)
	}
	free := open(t, mcp.New(), domarkx.Env{Config: config(t, ""), Allow: domarkx.Allow{Unsandboxed: true}})
	execute(t, free, call("write", "path", outside, "content", "x"))
}

// TestWorkTree works at a path of the work tree, whose Git directory is sealed.
func TestWorkTree(t *testing.T) {
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := domarkx.Env{WorkTree: top, Forbidden: []string{filepath.Join(top, ".git")}, Config: config(t, "").With("path", jsonvalue.StringValue("."))}
	r := open(t, mcp.New(), env)
	execute(t, r, call("write", "path", "f", "content", "x"))
	if data, err := os.ReadFile(filepath.Join(top, "f")); err != nil || string(data) != "x" {
		t.Errorf("%q, %v", data, err)
	}
	_, err := r.Execute(t.Context(), call("write", "path", ".git/config", "content", "x"))
	fails(t, err, domarkx.CodeFailed)
	for _, path := range []string{"../x", ".git"} {
		env.Dir, env.Config = t.TempDir(), config(t, "").With("path", jsonvalue.StringValue(path))
		if _, err := mcp.New().Open(t.Context(), env); err == nil {
			t.Errorf("path %q was accepted", path)
		}
	}
}

// TestTimeout calls a tool that hangs, whatever its argument "timeout" says.
func TestTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, mcp.NewLimited(time.Second, time.Minute, 1<<20), domarkx.Env{Dir: dir, Config: config(t, "")})
	tools(t, r)
	began := time.Now()
	_, err := r.Execute(t.Context(), call("hang", "timeout", "1000"))
	fails(t, err, domarkx.CodeTimeout, "was killed", "hanging")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("it took %v", took)
	}
	if left := working(t, dir); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
	if got := execute(t, r, call("echo", "text", "again")); got != "again" {
		t.Errorf("afterwards: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := r.Execute(ctx, call("hang", "timeout", "1")); err != context.Canceled {
		t.Errorf("a call that was cancelled: %v", err)
	}
	if left := working(t, dir); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
}

// TestEnds calls a tool of a server that ends, and starts servers that end or never answer.
func TestEnds(t *testing.T) {
	t.Parallel()
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, "")})
	_, err := r.Execute(t.Context(), call("end"))
	fails(t, err, domarkx.CodeBroken, "exit code 4", "ending on purpose")
	if got := execute(t, r, call("echo", "text", "again")); got != "again" {
		t.Errorf("afterwards: %q", got)
	}
	redact := func(text string) string { return strings.ReplaceAll(text, "s3cret", "${TOKEN}") }
	r = open(t, mcp.New(), domarkx.Env{Config: config(t, "ends", "TOKEN", "s3cret"), Redact: redact})
	_, err = r.(domarkx.ToolLister).Tools(t.Context())
	fails(t, err, domarkx.CodeBroken, "exit code 3", "no configuration: ${TOKEN}")
	for _, kind := range []string{"silent", "deaf"} {
		dir := t.TempDir()
		r := open(t, mcp.NewLimited(time.Minute, 300*time.Millisecond, 1<<20), domarkx.Env{Dir: dir, Config: config(t, kind)})
		_, err := r.(domarkx.ToolLister).Tools(t.Context())
		fails(t, err, domarkx.CodeTimeout, "did not list its tools within 300ms")
		if left := working(t, dir); len(left) > 0 {
			t.Errorf("%s: still alive: %v", kind, left)
		}
	}
}

func TestNoProgram(t *testing.T) {
	for program, code := range map[string]string{"no-such-program": domarkx.CodeNotFound, "./none": domarkx.CodeFailed, "/": domarkx.CodeFailed} {
		r := open(t, mcp.New(), domarkx.Env{Config: jsonvalue.ObjectValue().With("command", jsonvalue.StringValue(program))})
		_, err := r.(domarkx.ToolLister).Tools(t.Context())
		fails(t, err, code, strings.TrimPrefix(program, "./"))
	}
	written := jsonvalue.ObjectValue().With("command", jsonvalue.StringValue("x")).With("args", jsonvalue.ArrayValue(jsonvalue.StringValue("${TOKEN}")))
	expanded := written.With("args", jsonvalue.ArrayValue(jsonvalue.StringValue("s3cret")))
	if _, err := mcp.New().Open(t.Context(), domarkx.Env{Dir: t.TempDir(), Config: expanded, Written: written}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a secret in an argument: %v", err)
	}
}
