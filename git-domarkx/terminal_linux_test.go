package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"golang.org/x/sys/unix"
)

// terminal opens a pseudoterminal of 80 columns: the side of the screen and keyboard, and that of programs.
func terminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { screen.Close() })
	fd := int(screen.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// A reply is what the user types when the screen shows a text.
type reply struct{ when, typed string }

// on runs a command line on a terminal, and returns its status and what the screen shows.
func (p place) on(replies []reply, args ...string) (status int, shown string) {
	p.t.Helper()
	return p.onSized(func(*os.File) error { return nil }, replies, args...)
}

// onSized is like on. resize changes the size of the terminal before.
func (p place) onSized(resize func(program *os.File) error, replies []reply, args ...string) (status int, shown string) {
	p.t.Helper()
	p.t.Chdir(p.dir)
	screen, program := terminal(p.t)
	if err := resize(program); err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer program.Close() // ends the reading of the screen
		status = run(context.Background(), args, os.Getenv, stdio{program, program, program})
	}()
	var all bytes.Buffer
	since := "" // what is shown after the last reply
	part := make([]byte, 4096)
	for {
		n, err := screen.Read(part)
		all.Write(part[:n])
		since += string(part[:n])
		for len(replies) > 0 {
			_, rest, asked := strings.Cut(since, replies[0].when)
			if !asked {
				break
			}
			if _, err := screen.WriteString(replies[0].typed); err != nil {
				p.t.Fatal(err)
			}
			replies, since = replies[1:], rest
		}
		if err != nil { // EIO when the program is gone
			break
		}
	}
	if len(replies) > 0 {
		p.t.Errorf("%q was never asked:\n%s", replies[0].when, all.String())
	}
	return status, strings.ReplaceAll(all.String(), "\r\n", "\n")
}

// TestOnATerminal checks what people see that programs do not: colours, headings, totals and hints. No text
// of a session controls the terminal.
func TestOnATerminal(t *testing.T) {
	p := worked(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("GIT_PAGER", "cat")
	p.run(0, "-q", "append", "--new", "-m", "hostile \x1b[2J\u202e text\n\nbelow", "hostile")
	tip := p.ref("sessions/talk")
	for line, test := range map[string]struct {
		status     int
		has, lacks []string
	}{
		"list":                    {0, []string{"talk", "first words", "hostile text below"}, []string{tip, `\n`, "\u202e"}},
		"list --json":             {0, []string{`"title": "hostile text below"`}, nil},
		"list --color=never":      {0, []string{"talk"}, []string{"\x1b["}},
		"show hostile":            {0, []string{`hostile \x1b[2J\u202e text`, "\x1b[36m#0\x1b[m"}, []string{"\x1b[2J", "\u202e", "## user"}},
		"show --format md talk":   {0, []string{"## user\n\nfirst words"}, []string{"\x1b[", "#0"}},
		"log talk":                {0, []string{tip[:10]}, []string{tip}},
		"log --json talk":         {0, []string{tip}, []string{"\x1b["}},
		"log -p talk":             {0, []string{"\x1b[32m+more words\x1b[m"}, nil},
		"diff talk":               {1, []string{"\x1b[1mdiff ", "\x1b[36m@@", "\x1b[32m+more words\x1b[m"}, nil},
		"diff --color=never talk": {1, []string{"\n+more words"}, []string{"\x1b["}},
		"diff hostile talk":       {1, []string{`\x1b[2J`}, []string{"\x1b[2J", "\u202e"}},
		"search words":            {0, []string{"first \x1b[1;31mwords\x1b[m", "more \x1b[1;31mwords\x1b[m", "talk#0\x1b[m  "}, []string{"more;"}},
		"search hostile":          {0, []string{"\x1b[1;31mhostile\x1b[m \\x1b[2J\\u202e"}, []string{"\x1b[2J", "\u202e"}},
		"search nothing":          {1, nil, []string{"talk"}},
		"status":                  {0, nil, []string{"talk"}},
		"workspace log work":      {0, []string{p.ref("workspaces/work")[:10]}, []string{p.ref("workspaces/work")}},
		"fsck":                    {0, []string{"fsck: 3 sessions, no problems"}, nil},
		"-q fsck":                 {0, nil, []string{"no problems"}},
		"plugin list":             {0, []string{"filesystem", "write_file"}, nil},
		"help log":                {0, []string{"NAME\n    git domarkx log"}, nil},
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			status, shown := p.on(nil, strings.Fields(line)...)
			if status != test.status {
				t.Errorf("status %d, expected %d", status, test.status)
			}
			for _, text := range test.has {
				if !strings.Contains(shown, text) {
					t.Errorf("%q is not on\n%q", text, shown)
				}
			}
			for _, text := range test.lacks {
				if strings.Contains(shown, text) {
					t.Errorf("%q is on\n%q", text, shown)
				}
			}
		})
	}
}

// TestManyHits checks that a search on a terminal shows the best ten hits, and says how many more there are.
func TestManyHits(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "cat")
	const call = "## assistant\n\n```tool-call\n{\"resource\": \"codex\", \"tool\": \"sh\", \"arguments\": {\"command\": \"needle needle needle\"}}\n```\n\n"
	p.write("long.md", strings.Repeat(call, 90)+strings.Repeat("## user\n\nneedle in a text that is as long as it has to be, so that it is not found for its length\n\n", terminalHits+1))
	p.run(0, "-q", "import", "long.md")
	for line, test := range map[string]struct {
		hits int
		more string
	}{
		"search needle":           {terminalHits, "\n91 more; -n 0 shows all.\n"},
		"search -F needle":        {terminalHits, "\n91 more; -n 0 shows all.\n"},
		"-q search needle":        {terminalHits, ""},
		"search -n 0 needle":      {101, ""},
		"search --limit 3 needle": {3, ""},
		"search text needle":      {terminalHits, "\n1 more; -n 0 shows all.\n"},
		"search text NOT needle":  {0, ""},
		"search --role user text": {terminalHits, "\n1 more;"},
		"search --session x text": {0, ""},
	} {
		_, shown := p.on(nil, strings.Fields(line)...)
		if got := strings.Count(shown, "  user\n  ") + strings.Count(shown, "  assistant\n  "); got != test.hits || !strings.Contains(shown, test.more) || test.more == "" && strings.Contains(shown, "more;") {
			t.Errorf("%s: %d hits\n%s", line, got, shown[max(0, len(shown)-300):])
		}
	}
	for _, width := range []int{60, 80, 200} {
		_, shown := p.onWidth(width, "search", "needle")
		if strings.Count(shown, "  user\n  needle in a text that is as long") != terminalHits {
			t.Errorf("%d: prose is not preferred:\n%s", width, shown)
		}
		for row := range strings.Lines(shown) {
			if uniseg.StringWidth(row) > width {
				t.Errorf("wider than %d: %q", width, row)
			}
		}
	}
	if out, stderr := p.run(0, "search", "needle"); strings.Count(out, "\n") != 101 || stderr != "" || !strings.Contains(strings.SplitN(out, "\n", 2)[0], "needle needle") {
		t.Errorf("off a terminal: %d lines, %q\n%.200s", strings.Count(out, "\n"), stderr, out)
	}
}

func TestPagerOnATerminal(t *testing.T) {
	p := worked(t)
	t.Setenv("TERM", "xterm")
	for name, test := range map[string]struct {
		pager  string
		status int
		shown  string
	}{
		"a pager":                 {"sed s/^/PAGED:/", 0, "PAGED:"},
		"its environment":         {`sh -c 'cat >/dev/null; echo "$GIT_PAGER_IN_USE $LESS $LV"'`, 0, "true FRX -c"},
		"none":                    {"cat", 0, "more words"},
		"one that ends early":     {"true", 0, ""},
		"one that does not exist": {"/nowhere/pager", 128, "/nowhere/pager"},
	} {
		t.Run(name, func(t *testing.T) {
			p.t = t
			t.Setenv("GIT_PAGER", test.pager)
			status, shown := p.onSized(rows(2), nil, "log", "talk")
			if status != test.status || !strings.Contains(shown, test.shown) {
				t.Errorf("status %d:\n%s", status, shown)
			}
		})
	}
	p.t = t
	t.Setenv("GIT_PAGER", "sed s/^/PAGED:/")
	t.Setenv("GIT_PAGER_IN_USE", "true")
	if _, shown := p.onSized(rows(2), nil, "log", "talk"); strings.Contains(shown, "PAGED:") {
		t.Errorf("a pager in a pager:\n%s", shown)
	}
}

// rows returns a function that makes a terminal of so many rows and 80 columns.
func rows(n uint16) func(program *os.File) error {
	return func(program *os.File) error {
		return unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: n, Col: 80})
	}
}

// TestApproval checks that something untrusted is shown, asked for, and made only after a yes.
func TestApproval(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	const question = "work is not trusted. Run this, once? [y/N] "
	for name, test := range map[string]struct {
		typed  string
		status int
	}{
		"y": {"y\n", 0}, "yes": {"yes\n", 0}, "Yes": {" Yes \n", 0}, "n": {"n\n", 1}, "nothing": {"\n", 1}, "another word": {"yesterday\n", 1}, "the end of the input": {"\x04", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("work.md", strings.Replace(work, `"text"`, `"\u001b[2J"`, 1))
			p.run(0, "-q", "import", "work.md")
			status, shown := p.on([]reply{{question, test.typed}}, "run", "work")
			if status != test.status {
				t.Errorf("status %d:\n%s", status, shown)
			}
			if asked, _, _ := strings.Cut(shown, question); !strings.Contains(asked, "\n    ") || !strings.Contains(asked, "write_file") || strings.Contains(shown, "\x1b[2J") {
				t.Errorf("it shows\n%q", shown)
			}
			if out, _ := p.run(0, "log", "--messages", "work"); strings.Count(out, "\n") != 2 {
				t.Errorf("the messages are\n%s", out)
			}
			status, shown = p.on(nil, "trust", "work")
			if status != exitOK || !strings.Contains(shown, "write_file") {
				t.Errorf("trust: status %d\n%s", status, shown)
			}
		})
	}
	// Off a terminal nobody is asked.
	p.write("work.md", work)
	p.run(0, "-q", "import", "work.md")
	if out, stderr := p.run(exitNo, "run", "work"); out != "" || strings.Contains(stderr, question) || !strings.Contains(stderr, "write_file") {
		t.Errorf("off a terminal: %q, %q", out, stderr)
	}
	p.run(0, "-q", "run", "--yes", "work")
}

// TestStatusSaysAllIsWell checks that a terminal shows that nothing needs attention.
func TestStatusSaysAllIsWell(t *testing.T) {
	p := newPlace(t)
	if status, shown := p.on(nil, "status"); status != 0 || shown != "status: nothing needs attention\n" {
		t.Errorf("status %d, %q", status, shown)
	}
}
