package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// completions returns the words that complete a line, whose words are separated by one blank.
func (p place) completions(line string) []string {
	p.t.Helper()
	out, stderr := p.run(0, append([]string{"__complete", "--"}, strings.Split(line, " ")...)...)
	if stderr != "" {
		p.t.Errorf("%q: %s", line, stderr)
	}
	var words []string
	for row := range strings.Lines(out) {
		word, _, _ := strings.Cut(strings.TrimSuffix(row, "\n"), "\t")
		words = append(words, word)
	}
	slices.Sort(words)
	return words
}

func TestCompletions(t *testing.T) {
	p := worked(t)
	p.run(0, "-q", "push", "origin", "work")
	p.run(0, "-q", "fetch", "origin")
	p.run(0, "-q", "append", "--new", "-m", "x", "team/gone")
	p.run(0, "-q", "rm", "team/gone")
	p.run(0, "-q", "append", "--new", "-m", "x", "attached")
	p.run(0, "-q", "workspace", "attach", "attached", "work")
	tip, before, version := p.ref("sessions/talk")[:10], p.ref("sessions/talk^")[:10], p.ref("workspaces/work")
	for line, want := range map[string]string{
		"show ":                          "attached talk work",
		"show t":                         "attached talk work", // the shell selects
		"show talk#":                     "talk#0 talk#1",
		"show talk:":                     "talk:0 talk:1",
		"show talk#1":                    "talk#1",
		"show talk#9":                    "",
		"show talk@":                     sorted("talk@"+tip, "talk@"+before),
		"show talk@" + tip[:5]:           "talk@" + tip,
		"show talk@" + tip + "#":         "talk@" + tip + "#0 talk@" + tip + "#1",
		"restore ":                       "team/gone",
		"push ":                          "origin",
		"push origin ":                   "attached talk work",
		"pull origin ":                   "work",
		"workspace log ":                 "work",
		"workspace show work@":           sorted("work@"+version[:10], "work@"+p.ref("workspaces/work^")[:10]),
		"workspace show work@" + version: "work@" + version,
		"workspace path work ":           "files",
		"exec attached ":                 "files",
		"zeus restore ":                  "",
		"workspace attach talk w":        "work",
		"completion ":                    "bash fish zsh",
		"fork talk ":                     "",
		"import ":                        ":files",
		"mount ":                         ":directories",
		"log --json talk@":               sorted("talk@"+tip, "talk@"+before),
	} {
		t.Run(line, func(t *testing.T) {
			p.t = t
			got := p.completions(line)
			if want == ":files" || want == ":directories" {
				want = map[string]string{":files": completeFiles, ":directories": completeDirectories}[want]
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %q, expected %q", got, want)
			}
		})
	}
	p.t = t
	if got := p.completions(""); !slices.Contains(got, "import") || slices.Contains(got, "__complete") {
		t.Errorf("the commands are %q", got)
	}
	p.run(0, "__complete") // without any word
	for line, want := range map[string]string{
		"show none#": `"none": not found`, "pull elsewhere ": `"elsewhere"`, "exec talk ": `"talk": not found`, "show talk~x#": "is not a number", "workspace show none@": `"none": not found`,
	} {
		out, stderr := p.run(exitFatal, append([]string{"__complete", "--"}, strings.Split(line, " ")...)...)
		if out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%q: %q, %q, expected %q", line, out, stderr, want)
		}
	}
}

func sorted(words ...string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestCompletionsAreBounded checks that a long session does not fill a terminal.
func TestCompletionsAreBounded(t *testing.T) {
	p := newPlace(t)
	p.write("long.md", strings.Repeat("## user\n\nx\n\n", maxRevisions+20))
	p.run(0, "-q", "import", "long.md")
	if got := p.completions("show long#"); len(got) != maxRevisions {
		t.Errorf("%d messages are offered, expected %d", len(got), maxRevisions)
	}
}

// TestHostileCompletions checks that nothing reaches a shell or terminal that could control it.
func TestHostileCompletions(t *testing.T) {
	p := newPlace(t)
	p.run(0, "-q", "append", "--new", "-m", "a\x1b[31m\tb\u202ec", "talk")
	p.git("config", "remote.x\x1b[31my.url", "/nowhere")
	p.git("config", "remote.good.url", "/nowhere")
	out, _ := p.run(0, "__complete", "--", "show", "")
	if strings.ContainsAny(out, "\x1b\u202e") || strings.Count(out, "\t") != 1 || strings.Count(out, "\n") != 1 {
		t.Errorf("got %q", out)
	}
	if got := p.completions("push "); !slices.Equal(got, []string{"good"}) {
		t.Errorf("the remotes are %q", got)
	}
}

// TestCompletionsElsewhere checks the candidates outside of a repository.
func TestCompletionsElsewhere(t *testing.T) {
	p := place{t, t.TempDir()}
	t.Setenv("GIT_CEILING_DIRECTORIES", p.dir)
	if got := p.completions("li"); !slices.Contains(got, "list") {
		t.Errorf("got %q", got)
	}
	p.t.Chdir(p.dir)
	status, out, stderr := invoke(t, "", "__complete", "--", "show", "")
	if status == exitOK || out != "" || !strings.Contains(stderr, domarkx.ErrNotFound.Error()) && !strings.Contains(stderr, "repository") {
		t.Errorf("status %d, %q, %q", status, out, stderr)
	}
}
