package observe_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// desk is a repository whose work tree is observed.
type desk struct {
	t     testing.TB
	top   string
	store *gitstore.Store
	m     *observe.Manager

	warned []string
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git(t, top, "init", "-q", "-b", "main")
	return open(t, top)
}

// open opens a repository like a process of its own.
func open(t testing.TB, top string) *desk {
	t.Helper()
	repository, err := gitcmd.Discover(t.Context(), top, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, top: top}
	if d.store, err = gitstore.Open(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.store.Close() })
	env := local.Environment{Warn: func(err error) { d.warned = append(d.warned, err.Error()) }, StateDir: repository.StateDir(), WorkTree: repository.WorkTree, Local: local.NewFile(repository),
		Identity: func(context.Context) (author, committer domarkx.Signature, err error) {
			who := domarkx.Signature{Name: "Ann", Email: "ann@example.org", When: time.Now()}
			return who, who, nil
		}}
	d.m = observe.New(transaction.New(d.store, trust.New(d.store, env), enginetest.NoRedactor{}), d.store, repository, env, "boot", func() ([]string, error) { return nil, nil })
	return d
}

func (d *desk) write(path, content string) {
	d.t.Helper()
	full := filepath.Join(d.top, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) take(kind string, id, dir string) domarkx.Version {
	d.t.Helper()
	v, err := d.m.Take(context.Background(), observe.Moment{Kind: kind, Agent: "codex", ID: id, Dir: dir, Time: time.Now()})
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// workspace returns the only workspace whose versions have the name of an id.
func (d *desk) workspaces() []domarkx.Version {
	d.t.Helper()
	tips, err := d.store.Workspaces(context.Background())
	if err != nil {
		d.t.Fatal(err)
	}
	return tips
}

// files returns the contents of the files in the newest version of a workspace.
func (d *desk) files(workspace string) map[string]string {
	d.t.Helper()
	ctx := context.Background()
	tip, err := d.store.WorkspaceTip(ctx, workspace)
	if err != nil {
		d.t.Fatal(err)
	}
	found := map[string]string{}
	var walk func(id, at string)
	walk = func(id, at string) {
		files, err := d.store.Directory(ctx, id)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, f := range files {
			switch f.Type {
			case domarkx.Directory:
				walk(f.ID, at+f.Name+"/")
			case domarkx.Regular:
				c, err := d.store.Content(ctx, f.ID)
				if err != nil {
					d.t.Fatal(err)
				}
				data := make([]byte, c.Size())
				if n, err := c.ReadAt(data, 0); n < len(data) {
					d.t.Fatal(err)
				}
				c.Close()
				found[at+f.Name] = string(data)
			}
		}
	}
	walk(tip.Resources[0].Version, "")
	return found
}

func TestTake(t *testing.T) {
	d := newDesk(t)
	d.write("a", "one")
	first := d.take(events.Prompt, "1", d.top)
	if first.ID == "" || first.Operation != "prompt" || !observe.IsObserved(first) || first.Observed == nil || first.Observed.Branch != "main" || first.Observed.Head != "" || first.Late {
		t.Fatalf("the first version is %+v, %+v", first, first.Observed)
	}
	if again := d.take(events.Batch, "1", d.top); again.ID != "" {
		t.Errorf("a version without a change: %+v", again)
	}
	git(t, d.top, "add", "a")
	git(t, d.top, "commit", "-q", "-m", "one")
	git(t, d.top, "checkout", "-q", "--detach")
	d.write("a", "two")
	// It is asked after the files were read whether the next call has begun.
	late, err := d.m.Take(t.Context(), observe.Moment{Kind: events.Batch, Agent: "codex", ID: "1", Dir: d.top, Time: time.Now(), Late: func() bool {
		d.write("a", "of the next call")
		return true
	}})
	if files := d.files(first.Workspace); err != nil || files["a"] != "two" {
		t.Errorf("asked before the files were read: %q, %v", files, err)
	}
	if !late.Late || !slices.Equal(late.Parents, []string{first.ID}) || late.Observed.Head != git(t, d.top, "rev-parse", "HEAD") || late.Observed.Branch != "" {
		t.Errorf("the late version is %+v, %+v", late, late.Observed)
	}
	d.write("b", "in a directory below")
	if err := os.Mkdir(filepath.Join(d.top, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if below := d.take(events.Turn, "1", filepath.Join(d.top, "sub")); below.ID == "" || below.Late {
		t.Errorf("below: %+v", below)
	}
	if tips := d.workspaces(); len(tips) != 1 || tips[0].Number != 3 {
		t.Errorf("workspaces: %+v", tips)
	}
	if _, err := d.m.Take(t.Context(), observe.Moment{Kind: events.Turn, Agent: "codex", ID: "1", Dir: t.TempDir(), Time: time.Now()}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("outside: %v", err)
	}
	git(t, d.top, "fsck", "--strict")
}

// TestHugeFile leaves out a file of 2 GB and names it, without reading it, and a rewind leaves it alone.
func TestHugeFile(t *testing.T) {
	d := newDesk(t)
	d.write("a", "one")
	first := d.take(events.Prompt, "1", d.top)
	const size = 2 << 30
	for name, length := range map[string]int64{"huge": size, "limit": 1<<30 + 1} {
		d.write(name, "")
		if err := os.Truncate(filepath.Join(d.top, name), length); err != nil {
			t.Fatal(err)
		}
	}
	d.write("a", "two")
	began := time.Now()
	v := d.take(events.Batch, "1", d.top)
	if want := []domarkx.LeftOut{{Path: "huge", Reason: "large"}, {Path: "limit", Reason: "large"}}; v.Observed == nil || !slices.Equal(v.Observed.LeftOut, want) {
		t.Errorf("left out %+v", v.Observed)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if files := d.files(v.Workspace); len(files) != 1 || files["a"] != "two" {
		t.Errorf("the version has %q", files)
	}
	before, err := d.store.Version(t.Context(), first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.m.Rewind(t.Context(), backTo{d, before}, engine.Revision{Name: v.Workspace, Message: 0}, v.Workspace, true); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(d.top, "huge"))
	if data, readErr := os.ReadFile(filepath.Join(d.top, "a")); err != nil || info.Size() != size || string(data) != "one" {
		t.Errorf("after the rewind: %v, %q, %v", info, data, readErr)
	}
}

// TestStoredOnce takes versions of files that are committed: the first, one after a restart of the system, and one of another
// session after that. Git has the files already.
func TestStoredOnce(t *testing.T) {
	d := newDesk(t)
	for i := range 30 {
		noise := make([]byte, 100_000)
		rand.NewChaCha8([32]byte{byte(i)}).Read(noise)
		d.write(fmt.Sprintf("d%d/%d", i%3, i), string(noise))
	}
	other := t.TempDir()
	git(t, other, "init", "-q")
	git(t, other, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, d.top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, "d0/sub")
	git(t, d.top, "add", ".")
	git(t, d.top, "commit", "-q", "-m", "x")
	git(t, d.top, "gc", "-q")
	stored := func() (kB int) {
		fmt.Sscanf(strings.Join(strings.Fields(git(t, d.top, "count-objects", "-v")), " "), "count: 0 size: 0 in-pack: %d packs: %d size-pack: %d", new(int), new(int), &kB)
		return kB
	}
	before := stored()
	for i, id := range []string{"1", "1", "2"} {
		d.write("d1/more", fmt.Sprint(i))
		d.take(events.Prompt, id, d.top)
		if err := os.RemoveAll(filepath.Join(d.top, ".git/domarkx/observed")); i == 1 && err != nil {
			t.Fatal(err)
		}
		states, _ := filepath.Glob(filepath.Join(d.top, ".git/domarkx/observed/*/stat"))
		for _, state := range states {
			if err := os.Remove(state); err != nil {
				t.Fatal(err)
			}
		}
		if now := stored(); now > before+50 || before == 0 {
			t.Errorf("take %d: %d kB became %d", i, before, now)
		}
	}
	for _, tip := range d.workspaces() {
		if got := d.files(tip.Workspace); len(got) != 32 {
			t.Errorf("%s has %d files", tip.Workspace, len(got))
		}
	}
	git(t, d.top, "fsck", "--strict")
}

// TestShared checks which versions name other sessions: those of overlapping turns.
func TestShared(t *testing.T) {
	d := newDesk(t)
	d.write("a", "0")
	one := d.take(events.Prompt, "1", d.top)
	d.write("a", "1")
	if v := d.take(events.Turn, "1", d.top); len(v.Shared) > 0 {
		t.Errorf("alone: %q", v.Shared)
	}
	two := d.take(events.Prompt, "2", d.top)
	if len(two.Shared) > 0 {
		t.Errorf("after a turn that ended: %q", two.Shared)
	}
	d.write("a", "2")
	if v := d.take(events.Prompt, "1", d.top); !slices.Equal(v.Shared, []string{two.Workspace}) {
		t.Errorf("a prompt in an open turn of another: %q", v.Shared)
	}
	d.write("a", "3")
	if v := d.take(events.Turn, "2", d.top); !slices.Equal(v.Shared, []string{one.Workspace}) {
		t.Errorf("two open turns: %q", v.Shared)
	}
	d.write("a", "4")
	if v := d.take(events.Turn, "1", d.top); !slices.Equal(v.Shared, []string{two.Workspace}) {
		t.Errorf("the other turn ended since the last version: %q", v.Shared)
	}
	d.write("a", "5")
	if v := d.take(events.Prompt, "1", d.top); len(v.Shared) > 0 {
		t.Errorf("alone again: %q", v.Shared)
	}
}

// TestTenSessions lets ten sessions work at once, each through a process of its own, half of them in a linked work
// tree.
func TestTenSessions(t *testing.T) {
	sessions := 10
	d := newDesk(t)
	d.write("start", "s")
	git(t, d.top, "add", ".")
	git(t, d.top, "commit", "-q", "-m", "start")
	linked := filepath.Join(filepath.Dir(d.top), filepath.Base(d.top)+"-linked")
	git(t, d.top, "worktree", "add", "-q", linked)
	t.Cleanup(func() { os.RemoveAll(linked) })
	var work sync.WaitGroup
	for n := range sessions {
		top := []string{d.top, linked}[n%2]
		own := open(t, d.top)
		work.Go(func() {
			id := fmt.Sprint(n)
			for round := range 3 {
				path := filepath.Join(top, fmt.Sprintf("dir%d/file%d", n, round))
				err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, fmt.Appendf(nil, "%d %d", n, round), 0o644))
				kind := []string{events.Prompt, events.Batch, events.Turn}[round%3]
				if err == nil {
					_, err = own.m.Take(context.Background(), observe.Moment{Kind: kind, Agent: "codex", ID: id, Dir: top, Time: time.Now()})
				}
				if err != nil {
					t.Errorf("session %d: %v", n, err)
				}
			}
		})
	}
	work.Wait()
	for n := range sessions { // everything is in the last version of each
		d.take(events.Turn, fmt.Sprint(n), []string{d.top, linked}[n%2])
	}
	tips := d.workspaces()
	if len(tips) != sessions {
		t.Fatalf("%d workspaces", len(tips))
	}
	for _, tip := range tips {
		files := d.files(tip.Workspace)
		if len(files) != 1+sessions/2*3 {
			t.Errorf("%s has %d files", tip.Workspace, len(files))
		}
	}
	git(t, d.top, "fsck", "--strict")
	if dirs, err := filepath.Glob(filepath.Join(d.top, ".git/domarkx/observed/*/stat")); len(dirs) != 2 || err != nil {
		t.Errorf("%d stat caches for two work trees, %v", len(dirs), err)
	}
}

// TestKilledBetween takes a version after a process was killed between writing the stat cache and the state.
func TestKilledBetween(t *testing.T) {
	d := newDesk(t)
	d.write("a", "one")
	d.take(events.Prompt, "1", d.top)
	states, _ := filepath.Glob(filepath.Join(d.top, ".git/domarkx/observed/*/state.json"))
	if len(states) != 1 {
		t.Fatal(states)
	}
	before, err := os.ReadFile(states[0])
	if err != nil {
		t.Fatal(err)
	}
	d.write("a", "two")
	d.take(events.Batch, "2", d.top)                          // of another session, so that the first has not got it
	for i, state := range []string{string(before), "", "{"} { // an old state, an empty and a damaged one
		if err := os.WriteFile(states[0], []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		v := d.take(events.Turn, "1", d.top)
		if i == 0 && v.ID == "" {
			t.Error("an old state: no version")
		}
		for _, tip := range d.workspaces() {
			if got := d.files(tip.Workspace); got["a"] != "two" {
				t.Errorf("state %q: %s has %q", state, tip.Workspace, got)
			}
		}
	}
}

// backTo takes a workspace back as the manager of turns does.
type backTo struct {
	d       *desk
	version domarkx.Version
}

func (b backTo) Rewind(ctx context.Context, r engine.Revision) (turns.RewindResult, error) {
	var done turns.RewindResult
	who := domarkx.Signature{Name: "Ann", Email: "ann@example.org", When: time.Now()}
	err := b.d.store.Update(ctx, "rewind", func(tx *gitstore.Tx) error {
		tip, err := tx.WorkspaceTip(ctx, r.Name)
		if err != nil {
			return err
		}
		done.Workspace, err = tx.CommitVersion(ctx, r.Name, domarkx.VersionCommit{Parents: []string{tip.ID}, Resources: b.version.Resources, Operation: "rewind", Subject: "rewind", Author: who, Committer: who})
		if err != nil {
			return err
		}
		return tx.SetWorkspace(ctx, r.Name, done.Workspace.ID)
	})
	return done, err
}
