package redact_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// other is a second secret.
const other = "gl" + "pat-R7d0eW5tYu2gHj4KlMn6"

// A peer is a clone with the remote "origin".
type peer struct {
	*enginetest.Clone
	transfers  *transfer.Manager
	redactions *redact.Manager
}

// newPeers returns a remote and clones of it.
func newPeers(t *testing.T, n int) (remote string, peers []peer) {
	t.Helper()
	remote = filepath.Join(t.TempDir(), "origin.git")
	gittest.Create(t, remote, "master", true)
	for range n {
		c := enginetest.New(t)
		git(t, c.Dir, "remote", "add", "origin", remote)
		peers = append(peers, newPeer(c))
	}
	return remote, peers
}

func newPeer(c *enginetest.Clone) peer {
	redactor := redact.NewRedactor(c.Store, c.Env, scan.New(c.Store, c.Env))
	c.Redacts(redactor)
	redactions := redact.New(c.SessionManager, redactor)
	return peer{c, transfer.New(c.SessionManager, c.Store, c.Env, redactions), redactions}
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p peer) redact(r redact.Request) redact.Result {
	p.T.Helper()
	result, err := p.redactions.Redact(p.T.Context(), r)
	if err != nil || len(result.Stuck) > 0 {
		p.T.Fatalf("%+v, %v", result, err)
	}
	return result
}

// push sends all sessions, with their secrets.
func (p peer) push() {
	p.T.Helper()
	p.worked(p.transfers.Push(p.T.Context(), transfer.PushRequest{Remote: "origin", All: true}, nil))
}

func (p peer) pull() {
	p.T.Helper()
	p.worked(p.transfers.Pull(p.T.Context(), transfer.PullRequest{Remote: "origin"}, nil))
}

func (p peer) worked(results []transfer.Result, err error) {
	p.T.Helper()
	for _, r := range results {
		if r.Failed {
			p.T.Fatalf("%s: %s", r.Name, r.Status)
		}
	}
	if err != nil {
		p.T.Fatal(err)
	}
}

func (p peer) refs(prefix string) string { return git(p.T, p.Dir, "for-each-ref", prefix) }

// without checks that no ref but those of the trash leads to a secret, and no reflog.
func (p peer) without(secrets ...string) {
	p.T.Helper()
	out, err := exec.Command("sh", "-c", `cd "$0" && { git for-each-ref --format='%(objectname) %(refname)' | grep -v ' refs/domarkx-trash/redacted/' | cut -d' ' -f1
		find .git/logs -type f ! -path '*/refs/domarkx-trash/redacted/*' -exec cat {} + 2>/dev/null | cut -d' ' -f1,2 | tr ' ' '\n' | grep -v '^0*$' | sort -u
		} | git rev-list --objects --no-object-names --stdin | git cat-file --batch`, p.Dir).Output()
	if err != nil {
		p.T.Fatal(err)
	}
	for _, s := range append(secrets, "hunter2", "hunter4", "R7d0eW5t") {
		if strings.Contains(string(out), s) {
			p.T.Errorf("a live object has %s", s)
		}
	}
}

// everywhere makes a session that has a secret in each place that can be edited.
func everywhere(c *enginetest.Clone) {
	document := "---\ndb_password: hunter2!x\nbilling: " + secret + "\n---\n\nBegin with " + secret + ".\n\n" +
		"```workspace-config\nresources:\n  - {type: notes, title: " + secret + "}\n```\n\n" +
		"## user\n\n```msg-metadata\n{\"origin\": \"https://me:hunter2hunter2@example.org\"}\n```\n\nUse " + secret + ".\n\n[include](part.md)\n\n" +
		"## assistant\n\n```go\nvar key = \"" + secret + "\"\n```\n\n" +
		"```tool-call\n{\"resource\": \"x\", \"tool\": \"login\", \"arguments\": {\"user\": \"me\", \"password\": \"hunter2hunter2\"}}\n```\n\n" +
		"## user\n\n```tool-result\n{\"stdout\": \"PASSWORD='hun\\\"ter2\\\\hun'\\npostgres://me:R7d0eW5t@db.internal/app\\n\"}\n```\n"
	c.WriteFile("part.md", "PASSWORD=hunter4hunter4\n")
	c.ImportOne(importer.Request{Paths: []string{c.WriteFile("s.md", document)},
		Attach: []string{c.WriteFile("note.txt", "log in with "+secret+"\n"), c.WriteFile("b.txt", `{"password": "hunter4hunter4"}`+"\n"), c.WriteFile(secret+".txt", "x\n")}})
	if err := c.Trust(c.T.Context(), c.Tip("s")); err != nil {
		c.T.Fatal(err)
	}
	for _, text := range []string{"key = " + secret, "nothing", secret + " and " + other} {
		if _, err := c.Exec(c.T.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=a.txt", "text=" + text}}); err != nil {
			c.T.Fatal(err)
		}
	}
	described("merge with "+secret, "Ada")(c)
	c.Saved("s", c.Tip("s").ID, strings.Replace(c.Shown("s"), "Begin with "+secret, "Begin", 1))
}

// TestTwoRedactions redacts a session on two clones, which number the secrets differently, while a third one adds a message.
// All get the same history without a secret and with all additions.
func TestTwoRedactions(t *testing.T) {
	for name, make := range map[string]func(*enginetest.Clone){"a document": everywhere, "a transcript": places["original"].make} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 2
			if name == "a document" {
				n = 3
			}
			_, peers := newPeers(t, n)
			a, b, c := peers[0], peers[1], peers[n-1]
			make(a.Clone)
			a.Appended("s", "The second one is "+other+".")
			a.push()
			for _, p := range peers[1:] {
				p.pull()
			}
			numbers := map[string]int{}
			for _, p := range peers {
				numbers[p.Tip("s").ID]++
			}
			if len(numbers) != 1 {
				t.Fatal("the clones differ before they redact")
			}
			b.Appended("s", "b adds "+other[:len(other)-1]+"7.")
			a.redact(redact.Request{Name: "s"})
			b.redact(redact.Request{Name: "s"})
			c.Appended("s", "c adds.")
			a.push()
			b.pull()
			b.push()
			if n > 2 {
				c.pull()
				c.push()
				b.pull()
			}
			a.pull()
			shown := a.Shown("s")
			for _, p := range peers {
				if p.Tip("s").ID != a.Tip("s").ID || p.Shown("s") != shown {
					t.Errorf("the clones differ: %s and %s", p.Tip("s").ID, a.Tip("s").ID)
				}
				p.without(secret, other[:len(other)-1])
				p.Fsck()
			}
			if strings.Count(shown, "b adds [REDACTED:") != 1 || strings.Count(shown, "c adds.") != 1 {
				t.Errorf("an addition is missing:\n%s", shown)
			}
			if b.redact(redact.Request{Name: "s"}).Replaced != 0 {
				t.Error("another redaction changes something")
			}
		})
	}
}

// TestRedactedTwiceApart redacts on two clones what each of them allows differently: what either one replaces stays replaced.
func TestRedactedTwiceApart(t *testing.T) {
	t.Parallel()
	_, peers := newPeers(t, 2)
	a, b := peers[0], peers[1]
	a.Trusted("s", enginetest.NotesConfig+"\n## user\n\nFirst "+secret+", then "+other+".\n")
	call("write", "name=n", "text=both "+secret+" and "+other)(a.Clone)
	a.push()
	b.pull()
	allow := func(p peer, of string) {
		t.Helper()
		scans := scan.New(p.Store, p.Env)
		scanner, err := scans.Scanner(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := scans.Allow(t.Context(), []string{scanner.Text([]byte(of))[0].Fingerprint}, true); err != nil {
			t.Fatal(err)
		}
	}
	allow(a, other)
	allow(b, secret)
	a.redact(redact.Request{Name: "s"})
	b.redact(redact.Request{Name: "s"})
	if shown := a.Shown("s"); !strings.Contains(shown, other) || strings.Contains(shown, secret) {
		t.Fatalf("a has %s", shown)
	}
	if shown := b.Shown("s"); strings.Contains(shown, other) || !strings.Contains(shown, secret) {
		t.Fatalf("b has %s", shown)
	}
	a.push()
	b.pull()
	b.push()
	a.pull()
	if a.Tip("s").ID != b.Tip("s").ID {
		t.Errorf("the clones differ:\n%s\n%s", a.Shown("s"), b.Shown("s"))
	}
	for _, p := range peers {
		p.without(secret, other)
		p.Fsck()
	}
}

// TestReceiveLeaves checks the sessions that a redacted remote does not change: sessions that share nothing with it, and a session
// whose history is the same.
func TestReceiveLeaves(t *testing.T) {
	t.Parallel()
	_, peers := newPeers(t, 2)
	a, b := peers[0], peers[1]
	a.Appended("s", "Use "+secret+".")
	a.push()
	b.pull()
	b.Appended("mine", "Mine is "+secret+", too.")
	mine := b.Tip("mine")
	old := b.Tip("s").ID
	a.redact(redact.Request{Name: "s"})
	a.push()
	b.pull()
	if b.Tip("mine").ID != mine.ID || !strings.Contains(b.Shown("mine"), secret) {
		t.Error("a session that shares nothing changed")
	}
	if b.Tip("s").ID != a.Tip("s").ID {
		t.Error("the session is not that of the remote")
	}
	now := b.Tip("s").ID
	b.pull()
	if b.Tip("s").ID != now {
		t.Error("a second pull changed the session")
	}
	for _, redacted := range []bool{false, true} { // the tracking ref has it already: nothing to combine
		in := transfer.Incoming{Ref: "refs/domarkx-remotes/origin/sessions/s", ID: now, Redacted: redacted}
		got, err := b.redactions.Receive(t.Context(), in)
		if err != nil || got.ID != now || got.Moved || got.Replaced || got.Kept != nil {
			t.Errorf("Receive: %+v, %v", got, err)
		}
	}
	// What was replaced is in the trash, and restoring it does not send it again.
	info, err := b.redactions.Undo(t.Context(), "s")
	if err != nil || info.ID != old || !strings.Contains(b.Shown("s"), secret) {
		t.Fatalf("undo: %+v, %v", info, err)
	}
	results, err := b.transfers.Push(t.Context(), transfer.PushRequest{Remote: "origin", Names: []string{"s"}}, nil)
	if err != nil || len(results) != 1 || !results[0].Failed {
		t.Errorf("what was replaced was sent: %+v, %v", results, err)
	}
	if _, err := b.redactions.Undo(t.Context(), "s"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("undo again: %v", err)
	}
}
