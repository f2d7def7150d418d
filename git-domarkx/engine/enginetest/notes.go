package enginetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/plugins/directory"
)

// NotesConfig is the block of a workspace with a resource of the type Notes.
const NotesConfig = "```workspace-config\nresources:\n  - type: notes\n```\n"

// CallBlock returns the block of a call in that workspace. The arguments are JSON.
func CallBlock(tool, arguments string) string {
	return "```tool-call\n{\"resource\": \"notes\", \"tool\": \"" + tool + "\", \"arguments\": " + arguments + "}\n```\n"
}

// Notes is a resource type for tests: a directory of short Notes, with tools that write and read
// a note, fail, and wait for a signal.
type Notes struct {
	mu      sync.Mutex
	calls   []string      // all calls, in order
	Waiting chan struct{} // closed when "wait" starts to wait; may be nil
	During  func()        // runs during each call
	Reading hook          // runs while the output of "large" is read
	stamp   int           // counter that the tool "stamp" writes
	Titles  []string      // number of opened resources
	Torn    error         // why no version can be committed; nil if it can
}

// Type implements [domarkx.Plugin].
func (*Notes) Type() string { return "notes" }

// Describe implements [domarkx.Plugin].
func (*Notes) Describe(context.Context) (domarkx.Description, error) {
	anything := jsonvalue.MustParse(`{"type": "object"}`)
	return domarkx.Description{Source: "built-in", Languages: []string{"note"},
		Config: jsonvalue.MustParse(`{"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": false}`),
		Tools: []domarkx.Tool{
			{Name: "write", Schema: jsonvalue.MustParse(`{"type": "object", "properties": {"name": {"type": "string"}, "text": {"type": "string"}, "times": {"type": "integer"}}, "required": ["name", "text"], "additionalProperties": false}`)},
			{Name: "read", Schema: jsonvalue.MustParse(`{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}`)},
			{Name: "large", Schema: anything}, {Name: "wait", Schema: anything}, {Name: "stamp", Schema: anything},
			{Name: "run_command", Schema: jsonvalue.MustParse(`{"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}`)},
		}}, nil
}

// Open implements [domarkx.Plugin]. It records the title of the resource in n.Titles.
func (n *Notes) Open(_ context.Context, env domarkx.Env) (domarkx.Resource, error) {
	n.mu.Lock()
	n.Titles = append(n.Titles, transcript.Text(env.Config, "title"))
	n.mu.Unlock()
	dir, err := directory.Open(env)
	return &notebook{n, dir}, err
}

func (n *Notes) note(call string) {
	n.mu.Lock()
	n.calls = append(n.calls, call)
	during := n.During
	n.mu.Unlock()
	if during != nil {
		during()
	}
}

// Calls returns all calls so far, in order.
func (n *Notes) Calls() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.calls...)
}

// A hook is a reader without content that calls a function, which may be nil.
type hook func()

func (h hook) Read([]byte) (int, error) {
	if h != nil {
		h()
	}
	return 0, io.EOF
}

type notebook struct {
	*Notes
	*directory.Resource
}

func (b *notebook) Execute(ctx context.Context, call domarkx.Call) (domarkx.Result, error) {
	b.note(call.Tool + " " + transcript.Text(call.Arguments, "name") + transcript.Text(call.Arguments, "command"))
	path := filepath.Join(b.Path(), filepath.Base(transcript.Text(call.Arguments, "name")))
	switch call.Tool {
	case "write":
		return domarkx.Result{Value: jsonvalue.StringValue("written")}, os.WriteFile(path, []byte(transcript.Text(call.Arguments, "text")), 0o644)
	case "read":
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return domarkx.Result{}, &domarkx.ToolError{Code: domarkx.CodeNotFound, Message: "no such note"}
		}
		return domarkx.Result{Value: jsonvalue.StringValue(string(data))}, err
	case "large":
		return domarkx.Result{Value: jsonvalue.ObjectOf("output", "x", "truncated", true),
			Attachment: io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat("x", 3<<20)), b.Reading))}, nil
	case "stamp":
		b.stamp++
		return domarkx.Result{Value: jsonvalue.BoolValue(true)}, os.WriteFile(filepath.Join(b.Path(), "stamp"), fmt.Append(nil, b.stamp), 0o644)
	case "wait":
		if err := os.WriteFile(filepath.Join(b.Path(), "half"), []byte("done"), 0o644); err != nil {
			return domarkx.Result{}, err
		}
		if b.Waiting != nil {
			close(b.Waiting)
		}
		<-ctx.Done()
		return domarkx.Result{}, ctx.Err()
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf("exit_code", 3, "output", transcript.Text(call.Arguments, "command"))}, nil
}

// Run writes a note for each line NAME=TEXT. The line "exit" fails.
func (b *notebook) Run(_ context.Context, _, code string) (domarkx.Result, error) {
	b.note("note " + code)
	status := 0
	for line := range strings.Lines(code) {
		name, content, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name == "exit" {
			status = 1
			break
		}
		if err := os.WriteFile(filepath.Join(b.Path(), name), []byte(content), 0o644); err != nil {
			return domarkx.Result{}, err
		}
	}
	return domarkx.Result{Value: jsonvalue.ObjectOf("exit_code", status, "output", "ran")}, nil
}

func (b *notebook) Commit(ctx context.Context, w domarkx.VersionWriter) error {
	if b.Torn != nil {
		return b.Torn
	}
	return b.Resource.Commit(ctx, w)
}

func (b *notebook) Changed(context.Context) (bool, error) { return true, nil }

// File returns the content of a file in a version, or "-" if the file does not exist.
func (c *Clone) File(t *testing.T, version, name string) string {
	t.Helper()
	v, err := c.Store.Version(t.Context(), version)
	c.check(err)
	found := "-"
	err = domarkx.WalkVersion(t.Context(), c.Store, v.Resources[0].Version, func(path string, f domarkx.File) error {
		if path != name {
			return nil
		}
		data, err := domarkx.ReadContent(t.Context(), c.Store, f.ID, math.MaxInt64)
		found = string(data)
		return err
	})
	c.check(err)
	return found
}
