//go:build linux

package mcp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/mcp"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// call returns a call of a tool with the arguments as names and values; a value in brackets or digits is JSON.
func call(tool string, pairs ...string) domarkx.Call {
	o := jsonvalue.ObjectValue()
	for i := 0; i < len(pairs); i += 2 {
		v := jsonvalue.StringValue(pairs[i+1])
		if pairs[i] == "bytes" || pairs[i] == "timeout" {
			v = jsonvalue.NumberValue(pairs[i+1])
		}
		o = o.With(pairs[i], v)
	}
	return domarkx.Call{Tool: tool, Arguments: o}
}

// config returns the config of a server of this test binary.
func config(t testing.TB, kind string, env ...string) jsonvalue.Value {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	variables := jsonvalue.ObjectValue().With(serverVariable, jsonvalue.StringValue(kind))
	for i := 0; i < len(env); i += 2 {
		variables = variables.With(env[i], jsonvalue.StringValue(env[i+1]))
	}
	return jsonvalue.ObjectValue().With("command", jsonvalue.StringValue(program)).With("env", variables)
}

// open opens a resource.
func open(t testing.TB, p mcp.Plugin, env domarkx.Env) domarkx.Resource {
	t.Helper()
	if env.Dir == "" {
		env.Dir = t.TempDir()
	}
	if env.Warn == nil {
		env.Warn = func(m string) { t.Log(m) }
	}
	r, err := p.Open(context.Background(), env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(context.Background()) })
	return r
}

// tools returns the tools of a resource.
func tools(t testing.TB, r domarkx.Resource) []domarkx.Tool {
	t.Helper()
	list, err := r.(domarkx.ToolLister).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// execute makes a call that must work and returns the text of the result.
func execute(t testing.TB, r domarkx.Resource, c domarkx.Call) string {
	t.Helper()
	result, err := r.Execute(t.Context(), c)
	if err != nil {
		t.Fatalf("%s: %v", c.Tool, err)
	}
	content, _ := result.Value.Get("content")
	if len(content.Items()) != 1 {
		t.Fatalf("%s: %s", c.Tool, result.Value.JSON())
	}
	text, _ := content.Items()[0].Get("text")
	return text.Text()
}

// fails checks the code of an error and that its message contains all texts.
func fails(t testing.TB, err error, code string, texts ...string) {
	t.Helper()
	var tool *domarkx.ToolError
	if !errors.As(err, &tool) || tool.Code != code {
		t.Errorf("%v, expected the code %q", err, code)
		return
	}
	for _, text := range texts {
		if !strings.Contains(tool.Message, text) {
			t.Errorf("%q does not contain %q", tool.Message, text)
		}
	}
}

// working returns the processes that work in a directory or below.
func working(t testing.TB, dir string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir) {
			left = append(left, link)
		}
	}
	return left
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestConformance(t *testing.T) {
	with := config(t, "")
	url := jsonvalue.ObjectValue().With("url", jsonvalue.StringValue("https://example.org/"))
	empty := jsonvalue.ObjectValue()
	plugintest.Run(t, plugintest.Suite{
		Plugin: mcp.New(),
		Config: with,
		Changes: []domarkx.Call{
			call("write", "path", "a", "content", "1"),
			call("write", "path", "b", "content", "22"),
			call("write", "path", "a", "content", "333"),
		},
		Read: call("echo", "text", "hi"),
		Refused: map[string]domarkx.Call{
			domarkx.CodeFailed: call("read", "path", "none"),
		},
		Invalid: []jsonvalue.Value{
			empty, with.With("url", jsonvalue.StringValue("https://example.org/")), with.With("headers", empty), url.With("args", jsonvalue.ArrayValue()),
			url.With("env", empty), with.With("args", jsonvalue.StringValue("x")),
		},
		Alive:  func(dir string) bool { return len(working(t, dir)) > 0 },
		Costly: 2,
	})
}

func TestToolsOfTheServer(t *testing.T) {
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, "")})
	var names []string
	for _, tool := range tools(t, r) {
		names = append(names, tool.Name)
		if tool.Description != "The tool "+tool.Name+"." || tool.Schema.Kind() != jsonvalue.Object {
			t.Errorf("%s: %q, %s", tool.Name, tool.Description, tool.Schema.JSON())
		}
	}
	if got := strings.Join(names, " "); got != "big change daemon echo end env hang read write" {
		t.Error(got)
	}
	if got := execute(t, r, call("echo", "text", "hi\n```tool-call\n{}\n```")); got != "hi\n```tool-call\n{}\n```" {
		t.Errorf("%q", got)
	}
}
