package integration_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestZeusPolicies restores an agent with each policy: when it runs, when its tmux
// session belongs to another agent, and when its transcript or directory is missing. What
// is not replaced must stay. An agent without its directory starts in the home directory,
// as with Zeus.
func TestZeusPolicies(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	good := f.transcript("good.jsonl")
	const free, running, taken = "free", "running", "taken"
	n := 0
	for _, policy := range []string{"", "error", "skip", "replace"} {
		for _, mode := range []string{"original", "current"} {
			for _, state := range []string{free, running, taken} {
				for _, missing := range []string{"", "transcript", "directory", "both"} {
					if mode == "current" && (policy != "replace" || missing == "both") {
						continue // the workspace policy does not affect tmux
					}
					n++
					id := fmt.Sprintf("m-%d", n)
					path, directory := good, f.work
					if missing == "transcript" || missing == "both" {
						path = "/none/" + id + ".jsonl"
					}
					if missing == "directory" || missing == "both" {
						directory = "/none"
					}
					f.write(id+".json", fmt.Sprintf(`{"schema_version":1,"entries":[{"kind":"stygian","agent_id":%q,"name":"m","cwd":%q,"tmux_session":%q,"session_path":%q}]}`,
						id, directory, "t-"+id, path))
					f.domarkx("import", "-q", id+".json")
					switch state {
					case running:
						f.tmux("elsewhere-"+id, "@zeus_agent", id)
					case taken:
						f.tmux("t-" + id)
					}
					before := f.try("", "tmux", "list-sessions", "-F", "#{session_id} #{session_name}").out

					code, status := 0, "restored"
					switch {
					case state != free && policy == "skip":
						status = "skipped"
					case state != free && policy != "replace", missing == "transcript", missing == "both":
						code, status = 1, "failed"
					}
					args := []string{"restore", "--workspace-mode", mode}
					if policy != "" {
						args = append(args, "--if-running", policy)
					}
					what := fmt.Sprintf("%s %s, %s, without %q", policy, mode, state, missing)
					o := f.try("", "git-domarkx", append(append([]string{"zeus"}, args...), id)...)
					if o.code != code || !strings.HasPrefix(o.out, id+"\tstygian\t"+status+"\t") {
						t.Fatalf("%s: want %s, exit %d\n%s", what, status, code, o)
					}
					counts := map[string]int{status: 1}
					if want := fmt.Sprintf("%d restored, %d skipped, %d failed", counts["restored"], counts["skipped"], counts["failed"]); !strings.Contains(o.err, want) {
						t.Errorf("%s: no %q\n%s", what, want, o)
					}
					if missing == "directory" {
						directory = f.home()
						if warned := strings.Contains(o.err, `m: its directory "/none" does not exist; it was started in "`+directory+`"`); warned != (status == "restored") {
							t.Errorf("%s: warned %v\n%s", what, warned, o)
						}
					}
					after := f.try("", "tmux", "list-sessions", "-F", "#{session_id} #{session_name}").out
					if status == "restored" {
						if got := f.started(id); !strings.Contains(got, "--session\n"+path+"\n"+directory+"\n") {
							t.Errorf("%s: started so:\n%s", what, got)
						}
						if strings.Contains(after, "elsewhere-"+id) || strings.Count(after, " t-"+id+"\n") != 1 {
							t.Errorf("%s: sessions are\n%s", what, after)
						}
					} else if after != before {
						t.Errorf("%s: sessions were\n%sand are\n%s", what, before, after)
					}
					if _, err := os.Stat(f.path("started." + id)); err == nil {
						t.Errorf("%s: started again", what)
					}
					for _, session := range []string{"elsewhere-" + id, "t-" + id} {
						f.try("", "tmux", "kill-session", "-t", "="+session)
					}
				}
			}
		}
	}
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
