package refdb_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A wreck is a repository in which a process was killed: a and b are at ids[0].
type wreck struct {
	dir  string
	refs *refdb.Refs
	ids  []string
}

func newWreck(t *testing.T) *wreck {
	t.Helper()
	dir := gittest.Init(t)
	w := &wreck{dir, open(t, dir), gittest.Commits(t, dir, 3)}
	if err := update(t, w.refs, refdb.Change{Ref: session("a"), New: w.ids[0]}, refdb.Change{Ref: session("b"), New: w.ids[0]}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *wreck) path(name string) string { return filepath.Join(w.dir, ".git", name) }

func (w *wreck) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// journal writes the journal of a process, with an earlier time.
func (w *wreck) journal(t *testing.T, content any) string {
	t.Helper()
	data, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	const name = "domarkx/journal/1.json"
	w.write(t, name, string(data)+"\n")
	ago := time.Now().Add(-time.Second)
	if err := os.Chtimes(w.path(name), ago, ago); err != nil {
		t.Fatal(err)
	}
	return w.path(name)
}

func (w *wreck) moving(changes ...refdb.Change) any {
	return map[string]any{"format": 1, "pid": 1, "reason": "test", "changes": changes}
}

func (w *wreck) both() any {
	return w.moving(
		refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]},
		refdb.Change{Ref: session("b"), Old: w.ids[0], New: w.ids[1]})
}

// at returns the values of a, b and other references, as numbers of objects.
func (w *wreck) at(t *testing.T) string {
	t.Helper()
	list, err := w.refs.List("refs/domarkx")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, ref := range list {
		all = append(all, fmt.Sprint(strings.TrimPrefix(ref.Name, session("")), "=", slices.Index(w.ids, ref.ID)))
	}
	return strings.Join(all, " ")
}

func TestRecover(t *testing.T) {
	tests := []struct {
		name string
		make func(*wreck)
		want string
	}{
		{"nothing begun", func(w *wreck) {
			w.journal(t, w.both())
		}, "a=0 b=0"},
		{"half done", func(w *wreck) {
			w.write(t, session("a"), w.ids[1]+"\n")
			w.journal(t, w.both())
		}, "a=1 b=1"},
		{"all done", func(w *wreck) {
			w.write(t, session("a"), w.ids[1]+"\n")
			w.write(t, session("b"), w.ids[1]+"\n")
			w.journal(t, w.both())
		}, "a=1 b=1"},
		{"somebody went on", func(w *wreck) {
			w.write(t, session("a"), w.ids[2]+"\n")
			w.write(t, session("b"), w.ids[1]+"\n")
			w.journal(t, w.both())
		}, "a=2 b=1"},
		{"somebody went on before", func(w *wreck) {
			w.write(t, session("a"), w.ids[2]+"\n")
			w.journal(t, w.both())
		}, "a=2 b=0"},
		{"an object is missing", func(w *wreck) {
			w.write(t, session("a"), w.ids[1]+"\n")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]},
				refdb.Change{Ref: session("b"), Old: w.ids[0], New: strings.Repeat("1", 40)},
				refdb.Change{Ref: session("c"), New: w.ids[1]}))
			w.write(t, session("c"), w.ids[1]+"\n")
		}, "a=0 b=0"},
		{"a moved half", func(w *wreck) {
			w.write(t, session("c"), w.ids[0]+"\n")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0]},
				refdb.Change{Ref: session("c"), New: w.ids[0]}))
		}, "b=0 c=0"},
		{"making room", func(w *wreck) {
			gittest.Run(t, w.dir, "update-ref", "-d", session("a"))
			w.write(t, "refs/domarkx/moving/"+w.ids[0], w.ids[0]+"\n")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0]},
				refdb.Change{Ref: session("a/x"), New: w.ids[0]}))
		}, "a/x=0 b=0"},
		{"room not made", func(w *wreck) {
			w.write(t, "refs/domarkx/moving/"+w.ids[0], w.ids[0]+"\n")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0]},
				refdb.Change{Ref: session("a/x"), New: w.ids[0]}))
		}, "a=0 b=0"},
		{"content lost in a power cut", func(w *wreck) {
			w.write(t, session("a"), "")
			w.write(t, session("b"), strings.Repeat("\x00", 41))
			w.write(t, session("c"), "")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]},
				refdb.Change{Ref: session("b"), Old: w.ids[0], New: w.ids[1]},
				refdb.Change{Ref: session("c"), New: w.ids[1]}))
		}, "a=1 b=1 c=1"},
		{"content lost, and an object", func(w *wreck) {
			w.write(t, session("a"), "")
			w.write(t, session("c"), "")
			w.journal(t, w.moving(
				refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]},
				refdb.Change{Ref: session("b"), Old: w.ids[0], New: strings.Repeat("1", 40)},
				refdb.Change{Ref: session("c"), New: w.ids[1]}))
		}, "a=0 b=0"},
		{"locks", func(w *wreck) {
			w.journal(t, w.both())
			w.write(t, session("a.lock"), w.ids[1]+"\n")
			w.write(t, session("b.lock"), "")
			w.write(t, "packed-refs.lock", "")
			w.write(t, "packed-refs.new", "# pack-refs")
		}, "a=0 b=0"},
		{"half done with locks", func(w *wreck) {
			w.journal(t, w.both())
			w.write(t, session("a"), w.ids[1]+"\n")
			w.write(t, session("b.lock"), w.ids[1]+"\n")
			w.write(t, "packed-refs.new", "# pack-refs")
		}, "a=1 b=1"},
		{"a fetch", func(w *wreck) {
			w.journal(t, map[string]any{"format": 1, "prefixes": []string{"refs/domarkx-remotes/origin/"}, "files": []string{"shallow.lock"}})
			w.write(t, "refs/domarkx-remotes/origin/sessions/x/y.lock", w.ids[2])
			w.write(t, "shallow.lock", "x")
		}, "a=0 b=0"},
		{"cut off", func(w *wreck) {
			w.write(t, "domarkx/journal/1.json", `{"format":1,"changes":[{"ref":"`)
			w.write(t, "domarkx/journal/2.json", "")
		}, "a=0 b=0"},
		{"forged", func(w *wreck) {
			for i, content := range []string{
				`{"format":1,"changes":[{"ref":"refs/heads/main","old":"","new":"` + w.ids[0] + `"}]}`,
				`{"format":1,"changes":[{"ref":"refs/domarkx/../../x","old":"` + w.ids[0] + `","new":"` + w.ids[1] + `"}]}`,
				`{"format":1,"prefixes":["refs/heads/"]}`, `{"format":1,"prefixes":["refs/domarkx/../heads/"]}`,
				`{"format":1,"files":["../x.lock"]}`, `{"format":1,"files":["config"]}`, `{"format":2}`, `[]`, `null`,
			} {
				w.write(t, fmt.Sprintf("domarkx/journal/%d.json", i), content+"\n")
			}
		}, "a=0 b=0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWreck(t)
			test.make(w)
			if err := w.refs.Recover(t.Context()); err != nil {
				t.Error(err)
			}
			if got := w.at(t); got != test.want {
				t.Errorf("references: %s, want %s", got, test.want)
			}
			none(t, w.path(""))
			gittest.Run(t, w.dir, "fsck", "--strict")
			if err := update(t, w.refs, refdb.Change{Ref: session("next"), New: w.ids[0]}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRecoverLeavesOthersLocks checks that lock files of other processes remain.
func TestRecoverLeavesOthersLocks(t *testing.T) {
	w := newWreck(t)
	w.journal(t, w.both())
	w.write(t, session("a.lock"), w.ids[2]+"\n") // another value
	w.write(t, session("b.lock"), w.ids[1]+"\n") // older than the journal
	w.write(t, session("c.lock"), "")            // another reference
	w.write(t, "index.lock", "")
	ago := time.Now().Add(-time.Hour)
	if err := os.Chtimes(w.path(session("b.lock")), ago, ago); err != nil {
		t.Fatal(err)
	}
	if err := w.refs.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	for _, name := range []string{session("a.lock"), session("b.lock"), session("c.lock"), "index.lock"} {
		if _, err := os.Lstat(w.path(name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLockFromBeforeBoot checks that locks from before the boot are removed, with and without
// a journal.
func TestLockFromBeforeBoot(t *testing.T) {
	w := newWreck(t)
	w.write(t, session("a.lock"), "")
	ago := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(w.path(session("a.lock")), ago, ago); err != nil {
		t.Fatal(err)
	}
	if err := update(t, w.refs, refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]}); err != nil {
		t.Error(err)
	}
	none(t, w.path(""))
}

// TestAbandonedLock checks that a lock without a journal, left by a power failure, is removed.
func TestAbandonedLock(t *testing.T) {
	for _, age := range []time.Duration{0, time.Minute, -time.Hour} {
		t.Run(age.String(), func(t *testing.T) {
			t.Parallel() // it waits
			w := newWreck(t)
			refdb.SetPatience(w.refs)
			for _, name := range []string{session("a.lock"), "refs/domarkx-remotes/origin/x.lock"} {
				w.write(t, name, "")
				when := time.Now().Add(-age)
				if err := os.Chtimes(w.path(name), when, when); err != nil {
					t.Fatal(err)
				}
			}
			if err := update(t, w.refs, refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]}); err != nil {
				t.Error(err)
			}
			claim := refdb.Claim{Name: "fetch", Prefixes: []string{"refs/domarkx-remotes/origin/"}}
			if err := w.refs.Guard(t.Context(), claim, func([]*os.File) error { return nil }); err != nil {
				t.Error(err)
			}
			os.Remove(w.path("domarkx/lock-fetch"))
			os.Remove(w.path("domarkx/lock"))
			none(t, w.path(""))
		})
	}
}

// TestLockOfLivingGit checks that the lock of a running git remains, however long it is held.
func TestLockOfLivingGit(t *testing.T) {
	for name, options := range map[string]func(gitDir string) []string{
		"in the repository":     func(string) []string { return nil },
		"--git-dir=DIR":         func(gitDir string) []string { return []string{"--git-dir=" + gitDir} },
		"--git-dir DIR":         func(gitDir string) []string { return []string{"--git-dir", gitDir} },
		"other options with it": func(gitDir string) []string { return []string{"-c", "a.b=c", "--work-tree", "/", "--git-dir", gitDir} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // it waits
			w := newWreck(t)
			args := options(gittest.Run(t, w.dir, "rev-parse", "--absolute-git-dir"))
			cmd := exec.Command("git", append(args, "update-ref", "--stdin")...)
			cmd.Dir, cmd.Env = w.dir, gittest.Env()
			if len(args) > 0 {
				cmd.Dir = "/"
			}
			checkLivingGit(t, w, cmd)
		})
	}
}

// checkLivingGit checks that no change is made while cmd, a git update-ref, holds a lock.
func checkLivingGit(t *testing.T, w *wreck, cmd *exec.Cmd) {
	refdb.SetPatience(w.refs)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "start\nupdate %s %s %s\nprepare\n", session("a"), w.ids[1], w.ids[0])
	answers := bufio.NewReader(out)
	for range 2 {
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := update(t, w.refs, refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[2]}); err == nil {
		t.Error("a reference was moved that a living git had locked")
	}
	if _, err := io.WriteString(in, "commit\n"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the living git was disturbed: %v", err)
	}
	if got := w.at(t); got != "a=1 b=0" {
		t.Errorf("references: %s", got)
	}
}

// TestRecoverWaitsForLivingGit checks that recovery waits for a running git that holds a lock
// like that of the dead one.
func TestRecoverWaitsForLivingGit(t *testing.T) {
	t.Parallel() // it waits
	w := newWreck(t)
	refdb.SetPatience(w.refs)
	cmd := exec.Command("git", "update-ref", "--stdin")
	cmd.Dir, cmd.Env = w.dir, gittest.Env()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "start\nupdate %s %s %s\nprepare\n", session("a"), w.ids[1], w.ids[0])
	answers := bufio.NewReader(out)
	for range 2 {
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	w.journal(t, w.both())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := w.refs.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock beside a living git: %v", err)
	}
	if err := w.refs.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("process %d", cmd.Process.Pid)) {
		t.Errorf("Recover beside a living git: %v", err)
	}
	if _, err := io.WriteString(in, "commit\n"); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the living git was disturbed: %v", err)
	}
	if err := w.refs.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	if got := w.at(t); got != "a=1 b=1" {
		t.Errorf("references: %s", got)
	}
	none(t, w.path(""))
}

// TestGuard checks that a claim does not block other changes and leaves nothing behind.
func TestGuard(t *testing.T) {
	w := newWreck(t)
	claim := refdb.Claim{Name: "fetch", Prefixes: []string{"refs/domarkx-remotes/origin/"}}
	err := w.refs.Guard(t.Context(), claim, func(inherit []*os.File) error {
		if len(inherit) == 0 {
			t.Error("nothing is to be inherited")
		}
		w.write(t, "refs/domarkx-remotes/origin/x.lock", "")
		if err := w.refs.Recover(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(w.path("refs/domarkx-remotes/origin/x.lock")); err != nil {
			t.Error(err)
		}
		return update(t, open(t, w.dir), refdb.Change{Ref: session("a"), Old: w.ids[0], New: w.ids[1]})
	})
	if err != nil {
		t.Error(err)
	}
	if err := os.Remove(w.path("refs/domarkx-remotes/origin/x.lock")); err != nil {
		t.Error(err)
	}
	// The next holder of the lock cleans up after one that was killed.
	killed := errors.New("killed")
	err = w.refs.Guard(t.Context(), claim, func([]*os.File) error {
		w.write(t, "refs/domarkx-remotes/origin/x.lock", "")
		return killed
	})
	if err != killed {
		t.Errorf("Guard: %v", err)
	}
	if err := update(t, w.refs, refdb.Change{Ref: session("a"), Old: w.ids[1], New: w.ids[0]}); err != nil {
		t.Error(err)
	}
	os.Remove(w.path("domarkx/lock-fetch"))
	os.Remove(w.path("domarkx/lock"))
	none(t, w.path(""))
}
