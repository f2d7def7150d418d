package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"golang.org/x/sys/unix"
)

// TestTablesFit checks that no table is wider than the terminal, that the columns which users need are there, and that long names
// keep both ends.
func TestTablesFit(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "cat")
	const secret = "token = ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	long := "claude-code/2026-01-02-" + strings.Repeat("very-", 9) + "long-name"
	p.write("long.md", "## user\n\n"+strings.Repeat("日本 many words of a prompt ", 20)+"\n\n## assistant\n\n```msg-metadata\n"+
		`{"model": "claude-opus-4-5-20251101", "usage": {"input": 1234567, "cache_read": 1234567890, "cache_write": 7654321, "output": 98765}}`+"\n```\n\n"+secret+"\n")
	p.run(0, "-q", "import", "--as", long, "long.md")
	p.run(0, "-q", "append", "--new", "-m", "Short", "short")
	p.write("code.go", "\t\tif x {\n"+strings.Repeat("y", 300)+"\n")
	p.run(0, "-q", "workspace", "list")
	for line, test := range map[string]struct {
		status int
		has    []string
	}{
		"list":                               {0, []string{"NAME", "TITLE", "AGENT", "MESSAGES", "ACTIVITY", "claude", "name", "short"}},
		"usage":                              {0, []string{"\ngit-domarkx: prices of 20", "KEY", "RESPONSES", "INPUT", "CACHE", "READ", "WRITE", "OUTPUT", "COST"}},
		"scan":                               {1, []string{"SECRET", "RULE", "PLACES", "FINGERPRINT", "****", "name#1"}},
		"scan --all":                         {1, []string{"FINGERPRINT", "name#1"}},
		"log " + long:                        {0, []string{"SNAPSHOT", "DATE", "MESSAGES", "SUBJECT", "import"}},
		"log --messages " + long:             {0, []string{"K", "ROLE", "DATE", "FIRST LINE", "assistant"}},
		"blame code.go":                      {0, []string{"LINE", "SESSION", "TEXT", "                if x {", "yyyyyyyyyyyyyyyyyyyyyyyyyyyy…"}},
		"import --as " + long + "%d long.md": {0, []string{"NAME", "OID", "MESSAGES", "name"}},
		"doctor":                             {0, []string{"SEVERITY", "WHAT", "WHERE", "FIX", "Git"}},
		"workspace list":                     {0, nil},
		"size --by session":                  {0, []string{"NAME", "ONLY", "SHARED", "VERSIONS"}},
	} {
		for _, width := range []int{60, 80, 200} {
			t.Run(fmt.Sprintf("%d/%.10s", width, line), func(t *testing.T) {
				p.t = t
				status, shown := p.onWidth(width, strings.Fields(strings.ReplaceAll(line, "%d", fmt.Sprint(width)))...)
				if status != test.status && !strings.HasPrefix(line, "doctor") {
					t.Errorf("status %d", status)
				}
				for _, text := range test.has {
					if !strings.Contains(shown, text) {
						t.Errorf("%q is not on\n%s", text, shown)
					}
				}
				table, _, _ := strings.Cut(shown, "\nno price")
				for row := range strings.Lines(table) {
					if strings.HasPrefix(row, "warning:") || strings.HasPrefix(row, "git-domarkx:") || strings.Contains(row, "secret") {
						continue // a message
					}
					if got := uniseg.StringWidth(strings.TrimSuffix(row, "\n")); got > width {
						t.Errorf("%d columns on %d:\n%s", got, width, row)
					}
				}
			})
		}
	}
}

// onWidth runs a command line on a terminal with so many columns.
func (p place) onWidth(width int, args ...string) (status int, shown string) {
	p.t.Helper()
	resize := func(program *os.File) error {
		return unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)})
	}
	return p.onSized(resize, nil, args...)
}

// TestLongOutputIsPaged checks that only a result that is longer than the screen goes through the pager. What a
// command says afterwards follows the pager's screen.
func TestLongOutputIsPaged(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "sed s/^/PAGED:/")
	for i := range 30 {
		p.run(0, "-q", "append", "--new", "-m", "needle", fmt.Sprintf("s%d", i))
	}
	const secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	for i := range 10 {
		p.write("used.md", fmt.Sprintf("## assistant\n\n```msg-metadata\n{\"model\": \"claude-opus-4-5\", \"usage\": {\"input\": %d}}\n```\n\n%s\n", 1+i, secret))
		p.run(0, "-q", "import", "--as", fmt.Sprintf("used%d", i), "used.md")
	}
	for line, paged := range map[string]bool{"list": true, "list s1": false, "list -n 22": false, "list -n 23": true, "list --json": true, "search needle": false, "search s1": false, "log s1": false, "show s1": false, "help list": true, "search -n 0 needle": true,
		"small search needle": true, "small search needle --session s1": false, "usage": false, "small usage": true, "small scan": false, "small scan --all": true, "scan s1": false, "usage --json": true} {
		size := func(*os.File) error { return nil }
		words, isSmall := strings.CutPrefix(line, "small ")
		if isSmall {
			size = rows(8)
		}
		if _, shown := p.onSized(size, nil, strings.Fields(words)...); strings.Contains(shown, "PAGED:") != paged {
			t.Errorf("%s: paged %t\n%s", line, !paged, shown)
		}
	}
	t.Setenv("GIT_PAGER", "head -n 1")
	if status, shown := p.on(nil, "list"); status != 0 || strings.Count(shown, "\n") != 1 {
		t.Errorf("a pager that ends early: status %d\n%s", status, shown)
	}
	p.write("long.md", "## user\n\n"+strings.Repeat("many lines\n", 100_000))
	p.run(0, "-q", "import", "long.md")
	if status, shown := p.on(nil, "show", "--format", "md", "long"); status != 0 || shown != "## user\n" {
		t.Errorf("a pager that ends before the output: status %d\n%.200s", status, shown)
	}
}
