package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// findings returns what doctor finds, a line each: severity, what, where and how to fix it.
func (p place) findings(status int) []string {
	p.t.Helper()
	out, _ := p.run(status, "doctor", "--json")
	var rows []map[string]string
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		p.t.Fatalf("%v in %s", err, out)
	}
	var lines []string
	for _, r := range rows {
		lines = append(lines, r["severity"]+": "+r["what"]+" ("+r["where"]+"): "+r["fix"])
	}
	return lines
}

// TestDoctor checks that each problem is found, with where it is and what to do, and is not found without it.
func TestDoctor(t *testing.T) {
	identity := map[string]string{"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": ""}
	var sound []string // what is found where nothing is wrong
	for name, test := range map[string]struct {
		arrange func(p place)
		env     map[string]string
		status  int
		found   string
	}{
		"no remote of that name":    {func(p place) { p.git("config", "domarkx.remote", "nowhere") }, nil, 0, `warning: there is no remote "nowhere" (git config domarkx.remote): git remote add nowhere URL`},
		"no Git":                    {func(place) {}, map[string]string{"PATH": "/nowhere"}, 1, "(PATH): install Git 2.36 or newer"},
		"no name":                   {func(place) {}, identity, 0, "info: your name or email is not configured, so snapshots have a made-up author (git config user.name): git config --global user.name …"},
		"fetches over sessions":     {func(p place) { p.git("config", "remote.o.fetch", "+refs/domarkx/*:refs/domarkx/*") }, nil, 0, "warning: git fetch overwrites sessions, and with --prune removes those that were never pushed: +refs/domarkx/*:refs/domarkx/* (git config remote.o.fetch): git config --unset"},
		"mirrors everything":        {func(p place) { p.git("config", "remote.o.fetch", "+refs/*:refs/*") }, nil, 0, "warning: git fetch overwrites sessions"},
		"open to others":            {func(p place) { p.chmod(".git/domarkx", 0o755) }, nil, 0, "warning: others can read unsaved sessions: its mode is 0755, expected 0700"},
		"left by an editor":         {func(p place) { p.write(".git/domarkx/edit-123/talk.md", "x") }, nil, 0, "info: an unsaved text that an editor left behind"},
		"project file that is none": {func(p place) { p.write(".domarkx.toml", "[[resources") }, nil, 0, "warning: sessions that use it are not run or trusted: "},
		"settings of recording":     {func(p place) { p.write(".git/domarkx/recording/settings.json", "{") }, nil, 1, "delete the file, then run git domarkx agent install or watch again"},
		"configuration of Git":      {func(p place) { p.write(".git/config", "[core]\n\trepositoryformatversion = 0\n[x") }, nil, 1, "error: "},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			t.Setenv("HOME", t.TempDir())
			p.run(0, "-q", "append", "--new", "-m", "x", "talk")
			if sound == nil {
				sound = p.findings(0)
			}
			if slices.ContainsFunc(sound, func(line string) bool { return strings.Contains(line, test.found) }) {
				t.Errorf("%q is found before it is there", test.found)
			}
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			test.arrange(p)
			lines := p.findings(test.status)
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, test.found) }) {
				t.Errorf("found only\n%s", strings.Join(lines, "\n"))
			}
		})
	}
}

func (p place) chmod(name string, mode os.FileMode) {
	p.t.Helper()
	if err := os.Chmod(filepath.Join(p.dir, name), mode); err != nil {
		p.t.Fatal(err)
	}
}

// TestDoctorOnAgents checks doctor's lines about agents: those that are here and not recorded, and recording that
// nobody does.
func TestDoctorOnAgents(t *testing.T) {
	p := newPlace(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	about := func(agent string) string {
		for _, line := range p.findings(0) {
			if strings.HasPrefix(line, "info: "+agent+" ") || strings.HasPrefix(line, "warning: "+agent+" ") {
				return line
			}
		}
		return ""
	}
	if got := about("claude-code"); got != "" {
		t.Errorf("without the agent: %s", got)
	}
	if err := os.Mkdir(filepath.Join(home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := about("claude-code"), "info: claude-code is not recorded here ("+filepath.Join(home, ".claude")+"): git domarkx agent install claude-code"; got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
	p.write(".git/domarkx/recording/settings.json", `{"agents": {"claude-code": "2026-01-02T03:04:05Z"}}`)
	if got := about("claude-code"); !strings.Contains(got, "is recorded since 2026-01-02T03:04:05Z, without hooks") {
		t.Errorf("recorded: %s", got)
	}
	if lines := p.findings(0); !slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "agents should be recorded, but no process does it")
	}) {
		t.Errorf("found only\n%s", strings.Join(lines, "\n"))
	}
	p.write(".git/domarkx/recording/settings.json", `{"agents": {"claude-code": "2026-01-02T03:04:05Z"}, "paused": "2026-02-03T04:05:06Z"}`)
	if lines := p.findings(0); !slices.ContainsFunc(lines, func(line string) bool {
		return strings.Contains(line, "recording is paused since 2026-02-03T04:05:06Z")
	}) {
		t.Errorf("found only\n%s", strings.Join(lines, "\n"))
	}
}
