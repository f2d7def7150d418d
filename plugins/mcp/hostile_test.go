//go:build linux

package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/mcp"
	"github.com/domarkx/domarkx/plugins/toolresult"
)

// TestGreeting: lines that are not messages are ignored, and the user is warned once, without control characters.
func TestGreeting(t *testing.T) {
	var warned []string
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, "greeting"), Warn: func(m string) { warned = append(warned, m) }})
	if got := execute(t, r, call("echo", "text", "hi")); got != "hi" {
		t.Errorf("%q", got)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "Server running on stdio") {
		t.Errorf("warnings: %q", warned)
	}
}

// TestFloods starts servers that write without end.
func TestFloods(t *testing.T) {
	for kind, want := range map[string]string{
		"line": "a line over 32 MiB", "garbage": "that is no message", "notifications": "more than 1000 requests and notifications", "version": "cannot be read", "requests": "more than 1000 requests and notifications",
	} {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, kind), Warn: func(string) {}})
			began := time.Now()
			most := peak(func() {
				_, err := r.(domarkx.ToolLister).Tools(t.Context())
				fails(t, err, domarkx.CodeBroken, want)
			})
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if most > 200<<20 {
				t.Errorf("it took %d MiB", most>>20)
			}
			if left := working(t, dir); len(left) > 0 {
				t.Errorf("still alive: %v", left)
			}
		})
	}
}

// peak returns how much the heap grew at most during f, in bytes.
func peak(f func()) uint64 {
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	end, most := make(chan bool), uint64(0)
	var measuring sync.WaitGroup
	measuring.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			if now.HeapInuse > before.HeapInuse {
				most = max(most, now.HeapInuse-before.HeapInuse)
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	})
	f()
	close(end)
	measuring.Wait()
	return most
}

// TestResults calls a tool with results around and over the limits.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	r := open(t, mcp.New(), domarkx.Env{Dir: dir, Config: config(t, "")})
	if got := execute(t, r, call("big", "bytes", "1000000")); len(got) != 1000000 {
		t.Errorf("a result of %d bytes", len(got))
	}
	result, err := r.Execute(t.Context(), call("big", "bytes", "4000000"))
	if err != nil {
		t.Fatal(err)
	}
	if size := len(result.Value.JSON()); size > toolresult.Limit || size < toolresult.Limit/2 {
		t.Errorf("the beginning has %d bytes", size)
	}
	cut, _ := result.Value.Get("truncated")
	bytes, _ := result.Value.Get("bytes")
	if result.Attachment == nil || !cut.IsTrue() {
		t.Fatalf("no attachment: %.200s", result.Value.JSON())
	}
	whole := readAll(t, result)
	if v, err := jsonvalue.ParseValue(whole); err != nil || fmt.Sprint(len(whole)) != bytes.Text() || len(whole) < 4000000 {
		t.Errorf("%v, %d bytes in the attachment, %s said, %s", err, len(whole), bytes.Text(), v.Kind())
	}
	size := 30000000
	if testing.Short() {
		size = 6000000
	}
	most := peak(func() {
		if result, err = r.Execute(t.Context(), call("big", "bytes", strconv.Itoa(size))); err != nil {
			t.Error(err)
		} else {
			result.Attachment.Close()
		}
	})
	if most > 400<<20 {
		t.Errorf("a large result took %d MiB", most>>20)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".output*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestEndlessResult has a server return 1 GB.
func TestEndlessResult(t *testing.T) {
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, `raw:{"tools": [{"name": "t"}]}`)})
	tools(t, r)
	most := peak(func() {
		_, err := r.Execute(t.Context(), call("t"))
		fails(t, err, domarkx.CodeBroken, "over 32 MiB")
	})
	if most > 200<<20 {
		t.Errorf("it took %d MiB", most>>20)
	}
}

// TestRawResults has a server by hand send results.
func TestRawResults(t *testing.T) {
	dir := t.TempDir()
	redact := func(s string) string { return strings.ReplaceAll(s, "s3cret", "${TOKEN}") }
	r := open(t, mcp.NewLimited(time.Minute, time.Minute, mcp.MaxMessage), domarkx.Env{Dir: dir, Config: config(t, `raw:{"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}`), Redact: redact})
	tools(t, r)
	for _, c := range []struct{ name, sent, want, code string }{
		{"numbers and order survive", `{"content": [], "structuredContent": {"z": 9007199254740993, "a": 1.0}}`, `{"content": [], "structuredContent": {"z": 9007199254740993, "a": 1.0}}`, ""},
		{"metadata is dropped", `{"_meta": {"x": 1}, "content": [{"type": "text", "text": "s3cret \u202e"}]}`, `{"content": [{"type": "text", "text": "${TOKEN} ` + "\u202e" + `"}]}`, ""},
		{"an image", `{"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}`, `{"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}`, ""},
		{"no content", `{}`, `{"content": []}`, ""},
		{"an error", `{"isError": true, "content": [{"type": "text", "text": "no s3cret"}, {"type": "text", "text": "sorry"}]}`, "no ${TOKEN}\nsorry", domarkx.CodeFailed},
		{"an error without a text", `{"isError": true, "content": []}`, "does not say why", domarkx.CodeFailed},
		{"an unknown kind of content", `{"content": [{"type": "hologram"}]}`, "hologram", domarkx.CodeBroken},
		{"a text as content", `{"content": "x"}`, `at "content", which the protocol does not allow`, domarkx.CodeBroken},
		{"a list", `[1]`, "", domarkx.CodeBroken},
		{"a request for input", `{"resultType": "input_required", "content": [], "inputRequests": {"a": {"method": "elicitation/create", "params": {"message": "Your password?", "requestedSchema": {"type": "object", "properties": {}}}}}}`, "elicitation", domarkx.CodeInvalid},
		{"too deep", `{"content": [], "structuredContent": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "", domarkx.CodeBroken},
	} {
		if err := os.WriteFile(filepath.Join(dir, "files/result.json"), []byte(c.sent), 0o600); err != nil {
			t.Fatal(err)
		}
		result, err := r.Execute(t.Context(), call("t"))
		if c.code != "" {
			t.Log(c.name)
			fails(t, err, c.code, c.want)
			continue
		}
		want, perr := jsonvalue.ParseValue([]byte(c.want))
		if perr != nil {
			t.Fatal(perr)
		}
		if err != nil || result.Value.JSON() != want.JSON() {
			t.Errorf("%s: %s, %v", c.name, result.Value.JSON(), err)
		}
	}
}

// TestToolLimits lists tools that are too many, too large, or not as they should be.
func TestToolLimits(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 4<<10)
	big := `{"type": "object", "description": "` + strings.Repeat("x", 20<<10) + `"}`
	for _, c := range []struct {
		name, listed string
		want         string // the names
		warnings     int
	}{
		{"too many", "250", "200 tools", 1},
		{"names", `{"tools": [{"name": "b"}, {"name": "a/b.c-d_E"}, {"name": "a b"}, {"name": ""}, {"name": "b"}, {"name": "é"}, {"name": "` + strings.Repeat("n", 129) + `"}]}`, "a/b.c-d_E b", 5},
		{"schemas", `{"tools": [{"name": "big", "inputSchema": ` + big + `}, {"name": "list", "inputSchema": []}, {"name": "none"},
{"name": "deep", "inputSchema": {"type": "object", "x": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}]}`, "none", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var warned []string
			r := open(t, mcp.New(), domarkx.Env{Config: config(t, "raw:"+strings.ReplaceAll(c.listed, "\n", "")), Warn: func(m string) { warned = append(warned, m) }})
			var names []string
			for _, tool := range tools(t, r) {
				names = append(names, tool.Name)
			}
			got := strings.Join(names, " ")
			if len(names) == 200 {
				got = "200 tools"
			}
			if got != c.want || len(warned) != c.warnings {
				t.Errorf("%s, warnings: %q", got, warned)
			}
		})
	}
	r := open(t, mcp.New(), domarkx.Env{Config: config(t, `raw:{"tools": [{"name": "a", "description": "`+long+`"}, {"name": "b", "description": "x\u202e\u0007\u200b\ny", "inputSchema": {"type": "object", "properties": {"p": {"description": "q\u2066"}}}}]}`)})
	list := tools(t, r)
	if d := list[0].Description; len(d) > 4<<10 || len(d) < 4<<10-4 || !strings.HasSuffix(d, "…") || !strings.HasPrefix(d, "éé") {
		t.Errorf("a description of %d bytes: %q", len(d), d[len(d)-10:])
	}
	if d, s := list[1].Description, list[1].Schema.JSON(); d != "x\ny" || strings.Contains(s, "\u2066") || !strings.Contains(s, `"q"`) {
		t.Errorf("%q, %s", d, s)
	}
	r = open(t, mcp.New(), domarkx.Env{Config: config(t, "raw:pages")})
	_, err := r.(domarkx.ToolLister).Tools(t.Context())
	fails(t, err, domarkx.CodeBroken, "pages")
	r = open(t, mcp.New(), domarkx.Env{Config: config(t, "raw:old")})
	_, err = r.(domarkx.ToolLister).Tools(t.Context())
	fails(t, err, domarkx.CodeBroken, `unsupported protocol version: "1999-01-01"`)
}

// TestChangedTools changes the tools of a server while it runs, and between two runs.
func TestChangedTools(t *testing.T) {
	dir := t.TempDir()
	env := domarkx.Env{Dir: dir, Config: config(t, "")}
	r := open(t, mcp.New(), env)
	before := len(tools(t, r))
	execute(t, r, call("change"))
	waitFor(t, "the refusal", func() bool {
		_, err := r.Execute(t.Context(), call("echo", "text", "x"))
		if err != nil {
			fails(t, err, domarkx.CodeRefused, "changed its tools")
		}
		return err != nil
	})
	if n := len(tools(t, r)); n != before {
		t.Errorf("%d tools, before %d", n, before)
	}
	if changed, err := r.Changed(t.Context()); !changed || err != nil {
		t.Errorf("changed: %v, %v", changed, err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	env.Config = config(t, "other:Another description.")
	r = open(t, mcp.New(), env)
	if list := tools(t, r); len(list) != 1 || list[0].Description != "Another description." {
		t.Errorf("%v", list)
	}
}
