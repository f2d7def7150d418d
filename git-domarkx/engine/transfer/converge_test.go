package transfer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

// token returns a made-up secret. It is put together here, so that no file has its text.
func token(n int) string {
	sum := sha256.Sum256([]byte{byte(n), byte(n >> 8)})
	return "gh" + "p_" + hex.EncodeToString(sum[:18])
}

func (c clone) redact(name string) redact.Result {
	c.T.Helper()
	r, err := c.redactions.Redact(c.T.Context(), redact.Request{Name: name})
	if err != nil {
		c.T.Fatal(err)
	}
	if len(r.Stuck) > 0 {
		c.T.Fatalf("refused: %v", r.Stuck)
	}
	return r
}

// sync pulls and pushes a session until the remote takes it.
func (c clone) sync(name string) {
	c.T.Helper()
	for range 4 {
		if got := c.pull(name); strings.HasPrefix(got, "!") && !strings.HasSuffix(got, " conflict") {
			c.T.Fatalf("pull: %s", got)
		}
		results, err := c.Push(c.T.Context(), transfer.PushRequest{Remote: "origin", Names: []string{name}}, nil)
		if err != nil {
			c.T.Fatal(err)
		}
		if !results[0].Failed {
			return
		}
	}
	c.T.Fatal("the remote never took the session")
}

// A company is three clones of a session that an agent's transcript began, with a workspace.
type company struct {
	t          *testing.T
	remote     string
	clones     []clone
	random     *rand.Rand
	session    string
	transcript string   // all that the agent has written so far
	records    int      // in the transcript
	texts      []string // what the session must have in the end
	secrets    int
	trace      []string
}

func newCompany(t *testing.T, seed uint64) *company {
	c := &company{t: t, remote: newRemote(t), random: rand.New(rand.NewPCG(seed, 17))}
	for range 3 {
		c.clones = append(c.clones, newClone(t, c.remote))
	}
	first := c.clones[0]
	c.record("user", "begin")
	c.session = c.imported(first)
	shown := first.Shown(c.session)
	at := strings.Index(shown, "## ")
	first.Saved(c.session, first.Tip(c.session).ID, shown[:at]+enginetest.NotesConfig+"\n"+shown[at:])
	first.push(c.session)
	for _, other := range c.clones[1:] {
		other.pull(c.session)
	}
	return c
}

// record adds a record to the agent's transcript.
func (c *company) record(role, text string) {
	c.records++
	content := fmt.Sprintf(`[{"type":"text","text":%q}]`, text)
	c.transcript += fmt.Sprintf(`{"parentUuid":"u%d","isSidechain":false,"type":%q,"uuid":"u%d","sessionId":"5e55","cwd":"/w","timestamp":"2026-03-01T10:%02d:%02d.000Z","message":{"id":"m%d","role":%q,"content":%s}}`,
		c.records-1, role, c.records, c.records/60, c.records%60, c.records, role, content) + "\n"
}

// imported imports the transcript in a clone.
func (c *company) imported(in clone) string {
	return in.ImportOne(importer.Request{Paths: []string{in.WriteFile("agent.jsonl", c.transcript)}}).Name
}

// text returns a new text, with a secret or without.
func (c *company) text(who string) string {
	text := fmt.Sprintf("%s %d.", who, len(c.texts))
	c.texts = append(c.texts, text)
	if c.random.IntN(2) == 0 {
		text += " It has " + c.secret() + "."
	}
	return text
}

// secret returns a new secret, or one that was used before.
func (c *company) secret() string {
	if c.secrets == 0 || c.random.IntN(3) > 0 {
		c.secrets++
		return token(c.secrets - 1)
	}
	return token(c.random.IntN(c.secrets))
}

// step does something in one of the clones.
func (c *company) step() {
	i := c.random.IntN(len(c.clones))
	in := c.clones[i]
	in.T = c.t
	what := ""
	switch c.random.IntN(9) {
	case 0, 1:
		what = "appends"
		in.Appended(c.session, c.text("appended"))
	case 2:
		what = c.edit(in)
	case 3:
		what = "imports"
		for range 1 + c.random.IntN(2) {
			c.record([]string{"user", "assistant"}[c.random.IntN(2)], c.text("recorded"))
		}
		c.imported(in)
		c.checkImport(i)
	case 4:
		what = "calls"
		c.call(in)
	case 5, 6:
		what = "redacts"
		in.redact(c.session)
		c.search(fmt.Sprintf("step %d: clone %d, just redacted", len(c.trace), i), in.Dir)
	case 7:
		what = "pulls"
		in.pull(c.session)
	case 8:
		what = "syncs"
		in.sync(c.session)
	}
	c.trace = append(c.trace, fmt.Sprintf("%d %s", i, what))
}

// checkImport reports secrets in imported messages of a redacted session.
func (c *company) checkImport(i int) {
	redacted := false
	for info, err := range c.clones[i].Store.Ancestors(c.t.Context(), c.clones[i].Tip(c.session).ID) {
		if err != nil {
			c.t.Fatal(err)
		}
		redacted = redacted || info.Replaces != ""
	}
	for line := range strings.Lines(c.clones[i].Shown(c.session)) {
		if redacted && strings.HasPrefix(line, "recorded ") && strings.Contains(line, token(0)[:4]) {
			c.t.Errorf("step %d: clone %d imported %q into a redacted session", len(c.trace), i, line)
		}
	}
}

// edit changes a text of the session, or replaces a secret in it.
func (c *company) edit(in clone) string {
	shown := in.Shown(c.session)
	var there []string
	for _, text := range c.texts {
		if strings.Count(shown, text) == 1 {
			there = append(there, text)
		}
	}
	if len(there) == 0 {
		return "edits nothing"
	}
	text := there[c.random.IntN(len(there))]
	next := strings.Replace(shown, text, text+" Edited.", 1)
	what := "edits " + text
	switch c.random.IntN(3) {
	case 0:
		next = strings.Replace(shown, text, text+" Now with "+c.secret()+".", 1)
		what = "adds a secret to " + text
	case 1:
		for n := range c.secrets {
			next = strings.ReplaceAll(next, token(n), "nothing")
		}
		what = "removes secrets"
	}
	in.Saved(c.session, in.Tip(c.session).ID, next)
	return what
}

// call writes a file in the workspace.
func (c *company) call(in clone) {
	if err := in.Trust(c.t.Context(), in.Tip(c.session)); err != nil {
		c.t.Fatal(err)
	}
	content := "plain"
	if c.random.IntN(2) == 0 {
		content = "key = " + c.secret()
	}
	name := fmt.Sprintf("n%d", c.random.IntN(3))
	if _, err := in.Exec(c.t.Context(), turns.ExecRequest{Name: c.session, Resource: "notes", Tool: "write", Pairs: []string{"name=" + name, "text=" + content}}); err != nil {
		c.t.Fatal(err)
	}
}

// settle redacts and exchanges until nothing changes.
func (c *company) settle() {
	for range 2 {
		for _, in := range c.clones {
			in.redact(c.session)
			in.sync(c.session)
		}
	}
	for range 2 {
		for _, in := range c.clones {
			in.sync(c.session)
		}
	}
}

// check compares the clones and looks for secrets.
func (c *company) check() {
	first := c.clones[0]
	shown := first.Shown(c.session)
	for i, in := range c.clones {
		for _, ref := range []string{"refs/domarkx/sessions/", "refs/domarkx/workspaces/"} {
			if here, there := refIn(c.t, in.Dir, ref+c.session), refIn(c.t, first.Dir, ref+c.session); here != there {
				c.t.Errorf("clone %d has %s at %s, clone 0 at %s", i, ref, here, there)
			}
		}
		if got := in.Shown(c.session); got != shown {
			c.t.Errorf("clone %d has\n%s\nclone 0\n%s", i, got, shown)
		}
		in.Fsck()
		c.search(fmt.Sprint("clone ", i), in.Dir)
	}
	c.search("the remote", c.remote)
	for _, text := range c.texts {
		if !strings.Contains(shown, text) {
			c.t.Errorf("%q is lost in\n%s", text, shown)
		}
	}
}

func refIn(t *testing.T, dir, ref string) string {
	return run(t, dir, "for-each-ref", "--format=%(objectname)", ref)
}

// search reports secrets in the raw objects that refs reach, but for those of the trash, and in the files of the
// repository other than objects, but for the live files of workspaces.
func (c *company) search(where, dir string) {
	c.t.Helper()
	var refs []string
	for line := range strings.Lines(run(c.t, dir, "for-each-ref", "--format=%(objectname) %(refname)")) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(name, "refs/domarkx-trash/redacted/") {
			refs = append(refs, id)
		}
	}
	list := exec.Command("git", "-C", dir, "rev-list", "--objects", "--no-object-names", "--stdin")
	list.Stdin = strings.NewReader(strings.Join(refs, "\n"))
	ids, err := list.Output()
	if err != nil {
		c.t.Fatal(err)
	}
	read := exec.Command("git", "-C", dir, "cat-file", "--batch")
	read.Stdin = strings.NewReader(string(ids))
	objects, err := read.Output()
	if err != nil {
		c.t.Fatal(err)
	}
	c.find(where+": an object", objects)
	git := run(c.t, dir, "rev-parse", "--absolute-git-dir")
	err = filepath.WalkDir(git, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(git, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "objects" || name == filepath.Join("domarkx", "workspaces")):
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		c.find(where+": the file "+name, data)
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

func (c *company) find(where string, data []byte) {
	c.t.Helper()
	for n := range c.secrets {
		if at := strings.Index(string(data), token(n)); at >= 0 {
			c.t.Errorf("%s has secret %d: %q", where, n, data[max(0, at-300):at+40])
		}
	}
}

// TestRedactionsConverge appends, edits, imports, calls, exchanges and redacts on three clones in any order. Afterwards
// all have the same session with every message and without a secret, and nothing but the trash leads to one. With SOAK, it
// goes on for that long.
func TestRedactionsConverge(t *testing.T) {
	rounds, until := uint64(1), time.Now()
	if soak := os.Getenv("SOAK"); soak != "" {
		length, err := time.ParseDuration(soak)
		if err != nil {
			t.Fatal(err)
		}
		until = until.Add(length)
	}
	for seed := uint64(1); (seed <= rounds || time.Now().Before(until)) && !t.Failed(); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCompany(t, seed)
			defer func() {
				if t.Failed() {
					t.Logf("steps: %s", strings.Join(c.trace, "; "))
				}
			}()
			for range 12 + c.random.IntN(12) {
				c.step()
			}
			c.settle()
			c.check()
		})
	}
}
