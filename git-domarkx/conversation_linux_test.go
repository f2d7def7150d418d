package main

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// spoken is a session with all that messages can have.
var spoken = "## user\n\n" + strings.Repeat("many words of a prompt ", 20) + "\n\n## assistant\n\n```msg-metadata\n{\"model\": \"claude-test\"}\n```\n\n```thought\nI wonder.\n\nStill.\n```\n\nFirst the files.\n\n" +
	"```tool-call\n{\"resource\": \"claude-code\", \"tool\": \"Bash\", \"arguments\": {\"command\": \"ls -l\\nls -a\", \"timeout\": 5}}\n```\n\n" +
	"```tool-result\n{\"ok\": true, \"result\": \"a.txt\\n\\u001b[2Jb.txt\"}\n```\n\n" +
	"```tool-call\n{\"resource\": \"claude-code\", \"tool\": \"Edit\", \"arguments\": {\"file_path\": \"/f\", \"old_string\": \"before\", \"new_string\": \"after\"}}\n```\n\n" +
	"```tool-result\n{\"ok\": false, \"error\": {\"code\": \"denied\", \"message\": \"not today\"}}\n```\n\n" +
	"```tool-call\n{\"resource\": \"claude-code\", \"tool\": \"Read\", \"arguments\": {}}\n```\n\n```go\n" + strings.Repeat("code ", 50) + "\n```\n"

// TestShowOnATerminal checks what people see of a conversation.
func TestShowOnATerminal(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "cat")
	p.write("talk.md", spoken)
	p.run(0, "-q", "import", "talk.md")
	folded := []string{"#1 assistant  claude-test  20", "thought: I wonder. Still.\n", "\nFirst the files.\n", "\n> Bash ls -l ls -a\n  a.txt \\x1b[2Jb.txt\n> Edit /f\n  denied: not today\n> Read\n  no result\n"}
	full := []string{"I wonder.\n\nStill.\n", "> Bash ls -l ls -a\n    timeout: 5\n    command:\n    ls -l\n    ls -a\n  result:\n    a.txt\n    \\x1b[2Jb.txt\n", "    file_path: /f\n    -before\n    +after\n  denied:\n    not today\n"}
	for line, test := range map[string]struct{ has, lacks []string }{
		"show talk":             {append(folded, "2 messages", "#0 user", "```go\n"+strings.Repeat("code ", 50)+"\n```\n"), append(full, "tool-call")},
		"show talk~0":           {folded, full},
		"show --calls talk":     {append(full, "#0 user"), append(folded[3:], "tool-call")},
		"show talk#1":           {full, []string{"#0 user", "tool-call"}},
		"show --format md talk": {[]string{"## assistant\n", "```tool-call\n"}, folded[3:]},
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			for _, width := range []int{60, 80, 200} {
				_, shown := p.onWidth(width, strings.Fields(line)...)
				for _, text := range test.has {
					if !strings.Contains(shown, text) {
						t.Errorf("%d: %q is not on\n%s", width, text, shown)
					}
				}
				for _, text := range append(test.lacks, "\x1b") {
					if strings.Contains(shown, text) {
						t.Errorf("%d: %q is on\n%s", width, text, shown)
					}
				}
				if strings.Contains(line, "md") {
					continue
				}
				for row := range strings.Lines(shown) {
					if got := uniseg.StringWidth(strings.TrimSuffix(row, "\n")); got > width && !strings.HasPrefix(row, "code ") {
						t.Errorf("%d columns on %d:\n%s", got, width, row)
					}
				}
			}
		})
	}
	p.t = t
	t.Setenv("TERM", "xterm")
	if _, shown := p.on(nil, "show", "talk"); !strings.Contains(shown, "\x1b[36m> Bash\x1b[m ls") || strings.Contains(shown, "\x1b[2J") {
		t.Errorf("with colours:\n%q", shown)
	}
	p.write("model.md", "## assistant\n\n```msg-metadata\n{\"model\": \"claude-"+strings.Repeat("long-", 20)+"\"}\n```\n\nHi.\n")
	p.run(0, "-q", "import", "model.md")
	if _, shown := p.onWidth(60, "show", "model"); !strings.Contains(shown, "claude-long-long-lo…  20") {
		t.Errorf("a long model:\n%q", shown)
	}
	if out, _ := p.run(0, "show", "--calls", "talk"); out != spoken {
		t.Errorf("off a terminal:\n%s", out)
	}
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "sed s/^/PAGED:/")
	if _, shown := p.on(nil, "show", "talk"); !strings.Contains(shown, "PAGED:#1") {
		t.Errorf("without a pager:\n%s", shown)
	}
}

// TestShowTogether checks which options exclude each other.
func TestShowTogether(t *testing.T) {
	p := newPlace(t)
	p.run(0, "-q", "append", "--new", "-m", "x", "talk")
	for line, status := range map[string]int{"--json --calls": 129, "--json --format md": 129, "--calls --format md": 129, "--json --attachment 00": 129, "--json": 0, "--format json": 0} {
		if _, stderr := p.run(status, append([]string{"show", "talk"}, strings.Fields(line)...)...); status != 0 && !strings.Contains(stderr, "together") {
			t.Errorf("%s: %s", line, stderr)
		}
	}
}
