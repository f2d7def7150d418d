package html_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/html"
)

// rendered returns the page's part with one message, as it is between the tags of its article.
func rendered(t *testing.T, m domarkx.Message) string {
	t.Helper()
	part, err := html.Render(session(m), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	write(t, session(m)) // checks the whole page
	return string(part.Messages)
}

// TestCalls: how calls and their results are shown.
func TestCalls(t *testing.T) {
	call := func(arguments string) string {
		return `{"resource": "r", "tool": "Do", "id": "1", "arguments": ` + arguments + `}`
	}
	long := strings.Repeat("long ", 50)
	for _, test := range []struct {
		name, call, result string
		want               []string // in order
		never              string
	}{
		{"the argument that says most", call(`{"x": "1", "path": "/p", "command": "ls"}`), `{"ok": true, "result": "o"}`,
			[]string{`<details class="call"><summary><span class="tool">Do</span> <span class="brief">ls</span></summary>`, "<dt>x</dt><dd>1</dd>", "<dt>path</dt><dd>/p</dd>", "<pre><code>ls</code></pre>", "<pre><code>o</code></pre>"}, "status"},
		{"a list as such", call(`{"command": ["ls", "-l"]}`), `{"ok": true}`, []string{`<span class="brief">[&quot;ls&quot;,&quot;-l&quot;]</span>`, `data-language="json"`, `&quot;ls&quot;`}, ""},
		{"what a search looks for before where", call(`{"path": "/p", "pattern": "func"}`), `{"ok": true}`, []string{`<span class="brief">func</span>`, "<dd>/p</dd>"}, ""},
		{"any text if none is known", call(`{"n": 1, "empty": "", "other": "text"}`), `{"ok": true}`, []string{`<span class="brief">text</span>`, "<dt>n</dt><dd>1</dd>"}, ""},
		{"no text at all", call(`{"n": 1, "b": true}`), `{"ok": true}`, []string{"<dt>n</dt><dd>1</dd>", "<dt>b</dt><dd>true</dd>"}, "brief"},
		{"no arguments", call(`{}`), `{"ok": true}`, []string{`<span class="tool">Do</span> </summary>`}, "<dl>"},
		{"a long text stands alone", call(`{"text": "` + long + `"}`), `{"ok": true}`, []string{`<p class="label">text</p><pre><code>` + long}, "<dl>"},
		{"an edit is a diff", call(`{"file_path": "/f", "old_string": "a\nb", "new_string": "c"}`), `{"ok": true}`,
			[]string{"<dt>file_path</dt>", `<pre class="diff"><code><span class="del">-a` + "\n" + `</span><span class="del">-b`, `<span class="add">+c`}, "<dt>old_string"},
		{"an edit of OpenCode", call(`{"filePath": "/f", "oldString": "-- a", "newString": "b"}`), `{"ok": true}`, []string{`<span class="del">--- a`, `<span class="add">+b`}, "oldString"},
		{"an edit of Copilot", call(`{"path": "/f", "old_str": "a", "new_str": "++ b"}`), `{"ok": true}`, []string{`<span class="del">-a`, `<span class="add">+++ b`}, "old_str"},
		{"several edits", call(`{"path": "/f", "edits": [{"oldText": "a", "newText": "b"}, {"old_string": "c", "new_string": "d", "replace_all": true}]}`), `{"ok": true}`,
			[]string{`<span class="del">-a`, `<span class="add">+b`, "<dt>replace_all</dt><dd>true</dd>", `<span class="del">-c`, `<span class="add">+d`}, "oldText"},
		{"other edits", call(`{"edits": [{"oldText": "a", "newText": "b"}, {}]}`), `{"ok": true}`, []string{`data-language="json"`, "oldText"}, "diff"},
		{"a patch", call(`{"input": "*** Begin Patch\n*** Update File: f\n@@ x\n--- a\n+b\n*** End Patch\n"}`), `{"ok": true}`,
			[]string{`<span class="brief">Update File: f …</span>`, `<span class="file">*** Begin Patch`, `<span class="file">*** Update File: f`, `<span class="hunk">@@ x`, `<span class="del">--- a`, `<span class="add">+b`, `<span class="file">*** End Patch`}, ""},
		{"an edit without its other half is not", call(`{"old_string": "a"}`), `{"ok": true}`, []string{"<dt>old_string</dt><dd>a</dd>"}, "diff"},
		{"a failure", call(`{}`), `{"ok": false, "error": {"code": "denied", "message": "no"}}`, []string{`<details class="call failed">`, `<span class="status">denied</span>`, "<code>no</code>"}, ""},
		{"a failure of a long command", call(`{"command": "` + long + `"}`), `{"ok": false}`, []string{`<span class="tool">Do</span> <span class="status">failed</span> <span class="brief">long`}, ""},
		{"a failure without a code", call(`{}`), `{"ok": false}`, []string{`<span class="status">failed</span>`}, ""},
		{"a failure without a message", call(`{}`), `{"ok": false, "error": {"code": "denied"}}`, []string{`<span class="status">denied</span>`, "<code>denied</code>"}, ""},
		{"the output of a command", call(`{}`), `{"ok": true, "result": {"stdout": "out", "stderr": "err", "exit_code": 1}}`, []string{"<code>out</code>", `<p class="label">stderr</p><pre><code>err</code>`, `data-language="json"`, "exit_code"}, ""},
		{"no output", call(`{}`), `{"ok": true, "result": {"stdout": "", "stderr": ""}}`, []string{`data-language="json">{}`}, "stderr"},
		{"a list as a result", call(`{}`), `{"ok": true, "result": [1]}`, []string{`data-language="json">[`}, ""},
		{"a result that is not JSON", call(`{}`), `plain`, []string{"<code>plain</code>"}, "failed"},
		{"a call that is not JSON", `not {`, `{"ok": true, "result": "o"}`, []string{`data-language="tool-call">not {</code>`, `<span class="tool">Result</span>`, "<code>o</code>"}, ""},
		{"a call without a tool", `{"arguments": {}}`, `broken`, []string{`data-language="tool-call"`, `<span class="tool">Result</span>`, "<code>broken</code>"}, ""},
		{"no result", call(`{}`), "", []string{`<span class="status">no result</span>`}, "Result"},
		{"names that are long", `{"tool": "` + strings.Repeat("t", 200) + `", "arguments": {"` + strings.Repeat("a", 200) + `": "x"}}`, `{"ok": true}`, []string{strings.Repeat("t", 80) + "…</span>", "<dt>" + strings.Repeat("a", 80) + "…</dt>"}, strings.Repeat("t", 81)},
	} {
		blocks := []domarkx.Block{code("tool-call", test.call)}
		if test.result != "" {
			blocks = append(blocks, code("tool-result", test.result))
		}
		got := rendered(t, says(blocks...))
		rest := got
		for _, want := range test.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q in the rest of\n%s", test.name, want, got)
				break
			}
			rest = after
		}
		if test.never != "" && strings.Contains(got, test.never) {
			t.Errorf("%s: there is %q in\n%s", test.name, test.never, got)
		}
	}
}

// TestDiffs: code that is a diff is coloured, and other code is not.
func TestDiffs(t *testing.T) {
	diff := "diff --git a/f b/f\nindex 1..2\n--- a/f\n+++ b/f\n@@ -1,3 +1,2 @@ <x>\n-old\n--- old\n+++ new\n same\n--- a/g\n+++ b/g\n"
	want := `<pre class="diff"><code><span class="file">diff --git a/f b/f
</span><span class="file">index 1..2
</span><span class="file">--- a/f
</span><span class="file">+++ b/f
</span><span class="hunk">@@ -1,3 +1,2 @@ &lt;x&gt;
</span><span class="del">-old
</span><span class="del">--- old
</span><span class="add">+++ new
</span> same
<span class="file">--- a/g
</span><span class="file">+++ b/g
</span></code></pre>
`
	var b bytes.Buffer
	html.WriteDiff(&b, diff)
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	for text, coloured := range map[string]bool{
		diff: true, strings.TrimPrefix(diff, "diff --git a/f b/f\n"): true, "text\n" + diff: true, "@@ -1 +1 @@\n": false, "--- a\n+++ b\n": false, "- item\n+ item\n": false, "": false,
		"diff x\n" + strings.Repeat(" \n", 4<<10) + "@@ -1 +1 @@\n": false,
	} {
		if got := strings.Contains(rendered(t, says(code("", text))), `class="diff"`); got != coloured {
			t.Errorf("%.40q is coloured: %t", text, got)
		}
	}
	if got := rendered(t, says(code("patch", "-a\n+b\n"))); !strings.Contains(got, `<span class="del">-a`) {
		t.Errorf("a block that says that it is a patch:\n%s", got)
	}
}

// TestEscape: text is text in HTML, and nothing in it is hidden.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		`<script>&"'`:       "&lt;script&gt;&amp;&quot;&#39;",
		"a\r\nb\tc\n":       "a\nb\tc\n",
		"\x00\x1b[31m\x7f":  "␀␡",
		"\u202eevil\u2066x": "⟨U+202E⟩evil⟨U+2066⟩x",
		"\x1b[2J":           "␛[2J",
		"tag\U000e0041":     "tag⟨U+E0041⟩",
		"\ufeff\ufeff":      "⟨U+FEFF ×2⟩",
		"bad \xff byte":     "bad \ufffd byte",
		"é 日本 🎉":            "é 日本 🎉",
	} {
		if got := html.Markupf("%s", text); string(got) != want {
			t.Errorf("%q is escaped as %q, want %q", text, got, want)
		}
	}
}

// TestLine: the first line of a text that has one, not too long.
func TestLine(t *testing.T) {
	for _, test := range []struct {
		text string
		n    int
		want string
	}{
		{"one\ntwo", 10, "one …"},
		{"**one** [link](https://x) `code`", 40, "one link code"},
		{"\n\n  one\n", 10, "one"},
		{"a longer line", 5, "a lon…"},
		{"ä ö ü", 5, "ä ö ü"},
		{"", 5, ""},
		{" \n ", 5, ""},
	} {
		if got := html.Line(test.text, test.n); got != test.want {
			t.Errorf("the first %d characters of %q are %q, want %q", test.n, test.text, got, test.want)
		}
	}
}

// TestSums: tokens and costs are short, and right at the limits of their units.
func TestSums(t *testing.T) {
	for tokens, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1050: "1.1k", 99_940: "99.9k", 100_000: "100k", 999_999: "999k", 1_000_000: "1M", 1_240_000: "1.2M", 100_000_000: "100M"} {
		m := with(text(domarkx.Assistant, "x"), fmt.Sprintf(`{"model": "m", "usage": {"input": 5, "output": %d}}`, tokens))
		if got := rendered(t, m); !strings.Contains(got, "· "+want+" out") {
			t.Errorf("%d tokens are not %s:\n%s", tokens, want, got)
		}
	}
	for cost, want := range map[string]string{"0.001": "&lt; $0.01", "0.01": "$0.01", "1.239": "$1.24", "1e3": "$1000.00"} {
		m := with(text(domarkx.Assistant, "x"), `{"model": "m", "cost": `+cost+`, "usage": {"input": 5, "output": 5}}`)
		part, err := html.Render(session(m), 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(part.Header) + string(part.Messages); !strings.Contains(got, want) {
			t.Errorf("%s is not %s:\n%s", cost, want, got)
		}
	}
}

// TestRender: some messages of a session, for the page of another program.
func TestRender(t *testing.T) {
	s := session(text(domarkx.User, "First?"), text(domarkx.Assistant, "First."), text(domarkx.User, "Second?"), text(domarkx.Assistant, "Second."))
	part, err := html.Render(s, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	if body := string(part.Messages); strings.Contains(body, "First") || !strings.Contains(body, "Second?") || !strings.Contains(body, "Second.") {
		t.Errorf("messages 2 and 3 are\n%s", body)
	}
	if prompts := string(part.Prompts); strings.Contains(prompts, "First") || !strings.Contains(prompts, "Second?") {
		t.Errorf("their prompts are\n%s", prompts)
	}
	id := regexp.MustCompile(`<article[^>]* id="([^"]+)"`).FindStringSubmatch(string(part.Messages))
	if id == nil || !strings.Contains(string(part.Prompts), `href="#`+id[1]+`"`) {
		t.Errorf("the prompt's anchor %q is not in\n%s", id, part.Prompts)
	}
	none, err := html.Render(s, 0, 0)
	if err != nil || len(none.Messages) != 0 {
		t.Errorf("no messages: %q, %v", none.Messages, err)
	}
	broken := s
	broken.Messages = formattest.FailingMessages{Messages: s.Messages, K: 3}
	if _, err := html.Render(broken, 2, 4); !errors.Is(err, formattest.ErrBroken) || !strings.HasPrefix(err.Error(), "message 3: ") {
		t.Errorf("a message that cannot be read: %v", err)
	}
	if got := html.Time(1772359200); got != `<time datetime="2026-03-01T10:00:00Z">2026-03-01 10:00</time>` {
		t.Errorf("the time is %s", got)
	}
}

// TestWriteErrors: an output that is full ends the writing.
func TestWriteErrors(t *testing.T) {
	s := session(text(domarkx.User, strings.Repeat("long ", 1000)), text(domarkx.Assistant, "x"))
	whole := write(t, s)
	for _, room := range []int{0, 100, len(whole) - 1} {
		out := formattest.FailingWriter(room)
		if err := html.Write(&out, s); !errors.Is(err, formattest.ErrBroken) {
			t.Errorf("room for %d of %d bytes: %v", room, len(whole), err)
		}
	}
}
