package redact_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

// reopened returns the repository as the next command sees it.
func reopened(t *testing.T, p peer) peer {
	t.Helper()
	return newPeer(enginetest.Open(t, p.Dir, p.Settings))
}

// files returns the files of the state directory that have a text, and those of the reflogs.
func (p peer) files(text string) (found []string) {
	p.T.Helper()
	for _, dir := range []string{p.Env.StateDir, filepath.Join(p.Dir, ".git", "logs")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if errors.Is(err, os.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() || strings.Contains(path, "/workspaces/") {
				return err
			}
			data, err := os.ReadFile(path)
			if strings.Contains(string(data), text) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			p.T.Fatal(err)
		}
	}
	return found
}

// A stopped context is cancelled when it was asked a number of times whether it is.
type stopped struct {
	context.Context
	left   atomic.Int64
	cancel context.CancelFunc
}

func (s *stopped) Err() error {
	if s.left.Add(-1) < 0 {
		s.cancel()
	}
	return s.Context.Err()
}

// TestStoppedRedaction stops a redaction at each of its steps. The session and its workspace are whole then, either as they
// were or redacted, and the next redaction completes the rest.
func TestStoppedRedaction(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	finished := false
	step := 1
	for round := 0; !finished && round < 40; round++ {
		name := "s" + strings.Repeat("i", round)
		p.Appended(name, "Use "+secret+".")
		p.Appended(name, "Again "+secret+".")
		old := p.Shown(name)
		redacted := strings.ReplaceAll(old, secret, "[REDACTED:github-pat:1]")
		ctx, cancel := context.WithCancel(t.Context())
		stop := &stopped{Context: ctx, cancel: cancel}
		stop.left.Store(int64(step))
		_, err := p.redactions.Redact(stop, redact.Request{Name: name})
		finished = ctx.Err() == nil
		cancel()
		switch now := p.Shown(name); {
		case err == nil && now != redacted:
			t.Fatalf("stopped at step %d without an error: %s", step, now)
		case now != old && now != redacted:
			t.Fatalf("stopped at step %d: %s", step, now)
		}
		p.redact(redact.Request{Name: name})
		if now := p.Shown(name); now != redacted {
			t.Fatalf("redacted after step %d: %s", step, now)
		}
		step += 2 + step // the first steps are the cheap ones
	}
	if !finished {
		t.Errorf("not finished after %d steps", step)
	}
	p.without(secret)
	p.Fsck()
}

// TestHinderedRedaction redacts where something cannot be written. The session is whole, either as it was or redacted; when the
// obstacle is gone, the next command and another redaction complete the work: nothing outside of the trash has the secret.
func TestHinderedRedaction(t *testing.T) {
	directory := func(name string) (put, remove func(p peer)) {
		path := func(p peer) string { return filepath.Join(p.Env.StateDir, name, "x") }
		return func(p peer) {
				os.Remove(filepath.Dir(path(p)))
				if err := os.MkdirAll(path(p), 0o700); err != nil {
					p.T.Fatal(err)
				}
			}, func(p peer) {
				if err := os.RemoveAll(filepath.Dir(path(p))); err != nil {
					p.T.Fatal(err)
				}
			}
	}
	nothing := func(peer) {}
	tests := map[string]struct {
		put, remove func(p peer)
		moved       bool // the refs have moved when it fails
	}{
		"the numbers cannot be stored": {put: func(p peer) { p.Settings.Adding = func() { panic(errors.New("disk full")) } }, remove: func(p peer) { p.Settings.Adding = nil }},
		"the index cannot be cleared": {put: func(p peer) {
			p.redactions.OnForget(func(context.Context) error { return errors.New("database is locked") })
		}, remove: nothing, moved: true},
		"it ends while it shows its result": {put: nothing, remove: nothing},
	}
	for _, name := range []string{"leases.json", "redacting.json", "replaced"} {
		put, remove := directory(name)
		tests["a directory in the place of "+name] = struct {
			put, remove func(p peer)
			moved       bool
		}{put, remove, name == "replaced"}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPeer(enginetest.New(t))
			call("write", "name=n", "text=with "+secret)(p.Clone)
			p.Appended("s", "Use "+secret+".")
			p.WriteFile(".git/domarkx/usage-cache", "it holds "+secret)
			old := p.Tip("s").ID
			if name != "the index cannot be cleared" {
				p.redactions.OnForget(func(context.Context) error { return nil })
			}
			tt.put(p)
			err := func() (err error) {
				defer func() {
					if e, ok := recover().(error); ok {
						err = e
					}
				}()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := redact.Request{Name: "s"}
				if name == "it ends while it shows its result" {
					r.Show = func(redact.Result) { cancel() }
				}
				_, err = p.redactions.Redact(ctx, r)
				return err
			}()
			if err == nil {
				t.Fatal("no error")
			}
			tt.remove(p)
			next := reopened(t, p)
			if moved := next.Tip("s").ID != old; moved != tt.moved {
				t.Errorf("moved: %t, after %v", moved, err)
			}
			next.Appended("s", "The next command.")
			next.redact(redact.Request{Name: "s"})
			next.without(secret)
			if found := next.files(secret); len(found) > 0 {
				t.Errorf("left in %q", found)
			}
			if shown := next.Shown("s"); strings.Count(shown, "[REDACTED:github-pat:1]") != 2 || !strings.Contains(shown, "The next command.") {
				t.Errorf("shown: %s", shown)
			}
			next.Fsck()
		})
	}
}

// TestDamagedHistory removes each object of a session in turn. A redaction that needs it says so, and never that there is none.
func TestDamagedHistory(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	p.WriteFile("part.md", "A part.\n")
	p.ImportFile(p.WriteFile("s.md", "---\ntitle: x\n---\n\n## user\n\nUse "+secret+".\n\n[include](part.md)\n"))
	p.Appended("s", "Again "+secret+".")
	before := git(t, p.Dir, "for-each-ref", "--format=update %(refname) %(objectname)")
	for _, file := range p.Unpack() {
		away := filepath.Join(t.TempDir(), "object")
		if err := os.Rename(file, away); err != nil {
			t.Fatal(err)
		}
		next := reopened(t, p)
		result, err := next.redactions.Redact(t.Context(), redact.Request{Name: "s", DryRun: true})
		if err == nil && result.Secrets != 1 {
			t.Errorf("without %s: %+v", filepath.Base(file), result)
		}
		if err := os.Rename(away, file); err != nil {
			t.Fatal(err)
		}
		restore := exec.Command("git", "-C", p.Dir, "update-ref", "--stdin") // a command sets the refs back to what is there
		restore.Stdin = strings.NewReader(before + "\n")
		if out, err := restore.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	next := reopened(t, p)
	if result := next.redact(redact.Request{Name: "s"}); result.Secrets != 1 || result.Replaced != 2 {
		t.Errorf("with all objects: %+v", result)
	}
	next.Fsck()
}

// TestConcurrentWriters appends, forks and calls in other processes while a session is redacted again and again: every
// message is there at the end, and none has the secret.
func TestConcurrentWriters(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	call("write", "name=n", "text=with "+secret)(p.Clone)
	const writers, each = 3, 5
	var group sync.WaitGroup
	for w := range writers {
		c := reopened(t, p)
		group.Go(func() {
			for k := range each {
				text := strings.Repeat("w", w+1) + strings.Repeat("k", k+1) + " has " + secret + "."
				if _, err := c.Append(context.Background(), turns.AppendRequest{Name: "s", Role: "user", Text: text}); err != nil {
					t.Errorf("append: %v", err)
				}
			}
		})
	}
	for range 2 {
		c := reopened(t, p)
		group.Go(func() {
			for range 3 {
				if _, err := c.redactions.Redact(context.Background(), redact.Request{Name: "s"}); err != nil {
					t.Errorf("redact: %v", err)
				}
			}
		})
	}
	group.Wait()
	p = reopened(t, p)
	p.redact(redact.Request{Name: "s"})
	shown := p.Shown("s")
	for w := range writers {
		for k := range each {
			if n := strings.Count(shown, "\n"+strings.Repeat("w", w+1)+strings.Repeat("k", k+1)+" has [REDACTED:github-pat:1]."); n != 1 {
				t.Errorf("message %d of writer %d is there %d times", k, w, n)
			}
		}
	}
	p.without(secret)
	p.Fsck()
}

// TestDryRun shows the result of a redaction. Nothing changes, in the repository and in the local state.
func TestDryRun(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	p.Appended("s", "Use "+secret+".")
	p.Appended("s", "And "+other+".")
	refs, state := p.refs("refs"), len(p.Settings.Values["redacted"])
	shown := 0
	result, err := p.redactions.Redact(t.Context(), redact.Request{Name: "s", DryRun: true, Purge: true, Show: func(r redact.Result) {
		shown++
		if r.Secrets != 2 || r.Replaced != 2 || len(r.Shared) != 1 || r.Shared[0] != (redact.Shared{Kind: "session", Name: "s"}) {
			t.Errorf("shown: %+v", r)
		}
	}})
	if err != nil || shown != 1 || result.Secrets != 2 || result.Replaced != 2 || result.Kept != nil || result.Purged.Removed != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if p.refs("refs") != refs || len(p.Settings.Values["redacted"]) != state || p.Store.HasReplacements() {
		t.Error("something changed")
	}
	if _, err := p.redactions.Redact(t.Context(), redact.Request{Name: "none"}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a session that does not exist: %v", err)
	}
}
