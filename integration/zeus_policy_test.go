package integration_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A policyCase is an agent that is restored: its session's state in tmux, and what is missing.
type policyCase struct{ id, state, missing, path, directory string }

const (
	free    = "free"
	running = "running"
	taken   = "taken" // its tmux session belongs to another agent
)

// TestZeusPolicies restores an agent with each policy: when it runs, when its tmux
// session belongs to another agent, and when its transcript or directory is missing. What
// is not replaced must stay. An agent without its directory starts in the home directory,
// as with Zeus.
func TestZeusPolicies(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	good := f.transcript("good.jsonl")
	n := 0
	cases := func(mode string, states ...string) (cases []policyCase) {
		for _, state := range states {
			for _, missing := range []string{"", "transcript", "directory", "both"} {
				if mode == "current" && missing == "both" {
					continue // the workspace policy does not affect tmux
				}
				n++
				c := policyCase{fmt.Sprintf("m-%d", n), state, missing, good, f.work}
				if missing == "transcript" || missing == "both" {
					c.path = "/none/" + c.id + ".jsonl"
				}
				if missing == "directory" || missing == "both" {
					c.directory = "/none"
				}
				cases = append(cases, c)
			}
		}
		return cases
	}
	for _, policy := range []string{"", "error", "skip", "replace"} {
		if policy == "skip" || policy == "replace" {
			f.restoreAll(policy, "original", cases("original", free, running, taken))
		} else { // nothing is restored if an agent runs
			f.restoreAll(policy, "original", cases("original", free, taken))
			f.restoreAll(policy, "original", cases("original", running))
		}
	}
	f.restoreAll("replace", "current", cases("current", free, running, taken))
	if n != 57 {
		t.Errorf("%d rows", n)
	}
	for _, args := range [][]string{{"--if-running", "kill", "m-1"}, {"--workspace-mode", "other", "m-1"}, {}} {
		if o := f.try("", "git-domarkx", append([]string{"zeus", "restore"}, args...)...); o.code != 129 {
			t.Errorf("%s", o)
		}
	}
	f.sound()
}

// restoreAll restores the agents of one snapshot with a policy.
func (f *fleet) restoreAll(policy, mode string, cases []policyCase) {
	f.tb.Helper()
	name := strings.Trim(policy+"-"+mode+"-"+cases[0].id, "-")
	var entries []string
	for _, c := range cases {
		entries = append(entries, fmt.Sprintf(`{"kind":"stygian","agent_id":%q,"name":%[1]q,"cwd":%q,"tmux_session":%q,"session_path":%q}`, c.id, c.directory, "t-"+c.id, c.path))
		switch c.state {
		case running:
			f.tmux("elsewhere-"+c.id, "@zeus_agent", c.id)
		case taken:
			f.tmux("t-" + c.id)
		}
	}
	f.write(name+".json", `{"schema_version":1,"entries":[`+strings.Join(entries, ",")+`]}`)
	f.domarkx("import", "-q", name+".json")
	list := func() string {
		return f.try("", "tmux", "list-sessions", "-F", "#{session_id} #{session_name}").out
	}
	before := list()
	args := []string{"zeus", "restore", "--workspace-mode", mode}
	if policy != "" {
		args = append(args, "--if-running", policy)
	}
	o := f.try("", "git-domarkx", append(args, name)...)
	after := list()
	lines := strings.Split(strings.TrimSuffix(o.out, "\n"), "\n")
	if len(lines) != len(cases) {
		f.tb.Fatalf("%s", o)
	}
	code, counts, restored := 0, map[string]int{}, map[string]bool{}
	for i, c := range cases {
		status := "restored"
		switch {
		case c.state != free && policy == "skip":
			status = "skipped"
		case c.state != free && policy != "replace", c.missing == "transcript", c.missing == "both":
			code, status = 1, "failed"
		}
		counts[status]++
		what := fmt.Sprintf("%s %s, %s, without %q", policy, mode, c.state, c.missing)
		if !strings.HasPrefix(lines[i], c.id+"\tstygian\t"+status+"\t") {
			f.tb.Fatalf("%s: want %s\n%s", what, status, o)
		}
		if c.missing == "directory" {
			c.directory = f.home()
			if warned := strings.Contains(o.err, c.id+`: its directory "/none" does not exist; it was started in "`+c.directory+`"`); warned != (status == "restored") {
				f.tb.Errorf("%s: warned %v\n%s", what, warned, o)
			}
		}
		if restored[c.id] = status == "restored"; restored[c.id] {
			if got := f.started(c.id); !strings.Contains(got, "--session\n"+c.path+"\n"+c.directory+"\n") {
				f.tb.Errorf("%s: started so:\n%s", what, got)
			}
			if strings.Contains(after, " elsewhere-"+c.id+"\n") || strings.Count(after, " t-"+c.id+"\n") != 1 {
				f.tb.Errorf("%s: sessions are\n%s", what, after)
			}
		}
	}
	// The sessions of those that were not restored are the same, and no other was made.
	rest := func(sessions string) (left string) {
		for line := range strings.Lines(sessions) {
			_, session, _ := strings.Cut(strings.TrimSpace(line), " ")
			if id := strings.TrimPrefix(strings.TrimPrefix(session, "elsewhere-"), "t-"); !restored[id] {
				left += line
			}
		}
		return left
	}
	if rest(after) != rest(before) {
		f.tb.Errorf("%s: sessions were\n%sand are\n%s", name, before, after)
	}
	if want := fmt.Sprintf("%d restored, %d skipped, %d failed", counts["restored"], counts["skipped"], counts["failed"]); o.code != code || !strings.Contains(o.err, want) {
		f.tb.Errorf("%s: want exit %d and %q\n%s", name, code, want, o)
	}
	for _, c := range cases {
		if _, err := os.Stat(f.path("started." + c.id)); err == nil {
			f.tb.Errorf("%s: %s was started again", name, c.id)
		}
	}
	if after != "" {
		f.killServer()
	}
}
