package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/gitstore"
)

// A forger changes redacted commits, as a remote can.
type forger struct {
	peer
	victim peer
	number int
	tx     *gitstore.Tx // the current update
}

// offer lets the victim receive a commit, and returns what that says.
func (f *forger) offer(ref, id string) error {
	_, err := f.victim.redactions.Receive(f.T.Context(), transfer.Incoming{Ref: "refs/domarkx-remotes/origin/" + ref, ID: id, Redacted: true})
	return err
}

// send gives the victim all forged commits.
func (f *forger) send() {
	f.T.Helper()
	git(f.T, f.victim.Dir, "fetch", "-q", f.Dir, "+refs/domarkx/*:refs/forged/*")
}

// update stores what fn returns the id of, as a session or workspace of its own.
func (f *forger) update(set func(tx *gitstore.Tx, id string) error, fn func(tx *gitstore.Tx) (string, error)) (id string) {
	f.T.Helper()
	f.number++
	err := f.Store.Update(f.T.Context(), "forge", func(tx *gitstore.Tx) (err error) {
		if id, err = fn(tx); err != nil {
			return err
		}
		return set(tx, id)
	})
	if err != nil {
		f.T.Fatal(err)
	}
	return id
}

func (f *forger) session(tx *gitstore.Tx, id string) error {
	return tx.Set(f.T.Context(), fmt.Sprint("forged", f.number), id)
}

func (f *forger) workspace(tx *gitstore.Tx, id string) error {
	return tx.SetWorkspace(f.T.Context(), fmt.Sprint("forged", f.number), id)
}

// withdraw removes the refs of the forged commits, and records what the remote has. The fetch is plain git's, which writes the ids
// from before the redaction to the reflogs of the tracking refs: these logs are the test's own.
func (f *forger) withdraw() {
	f.T.Helper()
	git(f.T, f.victim.Dir, "fetch", "-q", f.Dir, "+refs/domarkx/*/s:refs/domarkx-remotes/origin/*/s")
	if err := os.RemoveAll(filepath.Join(f.victim.Dir, ".git", "logs", "refs", "domarkx-remotes")); err != nil {
		f.T.Fatal(err)
	}
	for name := range strings.FieldsSeq(git(f.T, f.victim.Dir, "for-each-ref", "--format=%(refname)", "refs/forged")) {
		if err := os.Remove(filepath.Join(f.victim.Dir, ".git", name)); err != nil {
			f.T.Fatal(err)
		}
	}
}

// json returns the content of a blob with a change.
func (f *forger) json(b domarkx.Blob, old, now string) domarkx.Blob {
	f.T.Helper()
	data, err := f.Store.Read(f.T.Context(), b)
	if err != nil {
		f.T.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		f.T.Fatalf("%q is not in %s", old, data)
	}
	return domarkx.Blob{Data: bytes.ReplaceAll(data, []byte(old), []byte(now))}
}

// TestForgedSnapshots offers snapshots that claim to be the redacted form of one here, but differ in more than secrets.
// None may replace it, unless the user accepts that.
func TestForgedSnapshots(t *testing.T) {
	t.Parallel()
	_, peers := newPeers(t, 2)
	f := &forger{peer: peers[0], victim: peers[1]}
	document := "---\ntitle: Talk\n---\n\n## user\n\nUse " + secret + ".\n\n## assistant\n\nThank you.\n\n## user\n\nPay Alice.\n\n[include](part.md)\n"
	f.WriteFile("part.md", "A part with "+secret+".\n")
	f.ImportOne(importer.Request{Paths: []string{f.WriteFile("s.md", document)}, Attach: []string{f.WriteFile("a.txt", "log in with "+secret+"\n"), f.WriteFile("b.txt", "plain\n")}})
	old := f.Tip("s").ID
	f.push()
	f.victim.pull()
	f.redact(redact.Request{Name: "s"})
	tip := f.Tip("s").ID
	ctx := t.Context()
	head, err := f.Store.Head(ctx, tip)
	if err != nil {
		t.Fatal(err)
	}
	shown := f.victim.Shown("s")
	later := func(s domarkx.Signature) domarkx.Signature { s.When = s.When.Add(time.Second); return s }
	forged := map[string]string{}
	for name, forge := range map[string]func(c *domarkx.Commit){
		"a text": func(c *domarkx.Commit) { e := &c.State.Thread.Live[2]; e.JSON = f.json(e.JSON, "Alice", "Mallory") },
		"a text as a secret": func(c *domarkx.Commit) {
			e := &c.State.Thread.Live[2]
			e.JSON = f.json(e.JSON, "Alice", "[REDACTED:github-pat:9]")
		},
		"a redacted text": func(c *domarkx.Commit) { e := &c.State.Thread.Live[0]; e.JSON = f.json(e.JSON, "Use ", "Never use ") },
		"a message less":  func(c *domarkx.Commit) { c.State.Thread.Live = c.State.Thread.Live[:2] },
		"a message more": func(c *domarkx.Commit) {
			e := c.State.Thread.Live[2]
			e.ID = domarkx.NewID(0, f.Now)
			c.State.Thread.Live = append(c.State.Thread.Live, e)
		},
		"another message":     func(c *domarkx.Commit) { c.State.Thread.Live[1].ID = domarkx.NewID(0, f.Now) },
		"another predecessor": func(c *domarkx.Commit) { c.State.Thread.Live[2].After = c.State.Thread.Live[0].ID },
		"another revision":    func(c *domarkx.Commit) { c.State.Thread.Live[1].Rev[0] ^= 1 },
		"a past revision":     func(c *domarkx.Commit) { c.State.Thread.Live[1].Past = []domarkx.Rev{{1}} },
		"another date":        func(c *domarkx.Commit) { c.State.Thread.Live[1].Date++ },
		"a link":              func(c *domarkx.Commit) { c.State.Thread.Live[1].Link = old },
		"a removed message":   func(c *domarkx.Commit) { c.State.Thread.Dead = []domarkx.Tombstone{{ID: domarkx.NewID(0, f.Now)}} },
		"the header":          func(c *domarkx.Commit) { h := &c.State.Headers[0]; h.JSON = f.json(h.JSON, "Talk", "Task") },
		"the header's past":   func(c *domarkx.Commit) { c.State.Headers[0].Past = []domarkx.Rev{{1}} },
		"an included file":    func(c *domarkx.Commit) { c.State.Headers[0].Includes = f.includes("part.md", "Another part.\n") },
		"an included name": func(c *domarkx.Commit) {
			c.State.Headers[0].Includes = f.includes("other.md", "A part with [REDACTED:github-pat:1].\n")
		},
		"included files": func(c *domarkx.Commit) {
			c.State.Headers[0].Includes = f.includes("part.md", "A part with [REDACTED:github-pat:1].\n", "x.md", "")
		},
		"the author":         func(c *domarkx.Commit) { c.Author.Name = "Mallory" },
		"the author's date":  func(c *domarkx.Commit) { c.Author = later(c.Author) },
		"the committer":      func(c *domarkx.Commit) { c.Committer.Email = "mallory@example.org" },
		"the operation":      func(c *domarkx.Commit) { c.Operation = "edit" },
		"no attachments":     func(c *domarkx.Commit) { c.Kept = []domarkx.Attachment{} },
		"an attachment less": func(c *domarkx.Commit) { c.Kept = c.Kept[1:] },
		"a history before":   func(c *domarkx.Commit) { c.Parents = []string{tip} },
	} {
		forged[name] = f.update(f.session, func(tx *gitstore.Tx) (string, error) {
			f.tx = tx
			state, err := f.Store.Load(ctx, tip)
			if err != nil {
				return "", err
			}
			for i := range state.Headers { // an original names its snapshot
				state.Headers[i].Origin = ""
			}
			c := domarkx.Commit{Parents: head.Parents, State: state, Operation: head.Info.Operation, Subject: head.Info.Subject, Bytes: head.Info.Bytes,
				Preview: head.Info.Preview, Author: head.Author, Committer: head.Committer, Replacement: domarkx.Replacement{Replaces: old}}
			if c.Kept, err = f.Store.AttachmentsOf(ctx, tip); err != nil {
				return "", err
			}
			forge(&c)
			info, err := tx.Commit(ctx, c)
			return info.ID, err
		})
	}
	f.send()
	for name, id := range forged {
		t.Run(name, func(t *testing.T) {
			if err := f.offer("sessions/s", id); !errors.Is(err, transfer.ErrNotSame) {
				t.Errorf("received: %v", err)
			}
			if f.victim.Tip("s").ID != old || f.victim.Shown("s") != shown || f.victim.Store.HasReplacements() && f.victim.refs("refs/domarkx-trash") != "" {
				t.Fatal("the session changed")
			}
		})
	}
	if err := f.offer("sessions/s", tip); err != nil || f.victim.Tip("s").ID != tip {
		t.Errorf("the true redaction: %v, %s, want %s", err, f.victim.Tip("s").ID, tip)
	}
	f.withdraw()
	f.victim.without(secret)
	f.victim.Fsck()
}

// includes stores a tree of included files in the current update.
func (f *forger) includes(pairs ...string) string {
	f.T.Helper()
	var files []domarkx.Include
	for i := 0; i < len(pairs); i += 2 {
		files = append(files, domarkx.Include{Path: pairs[i], Data: []byte(pairs[i+1])})
	}
	tree, err := f.tx.StoreIncludes(f.T.Context(), files)
	if err != nil {
		f.T.Fatal(err)
	}
	return tree
}

// TestForgedVersions is like TestForgedSnapshots for versions of a workspace.
func TestForgedVersions(t *testing.T) {
	t.Parallel()
	_, peers := newPeers(t, 2)
	f := &forger{peer: peers[0], victim: peers[1]}
	file := enginetest.RegularFile
	v := f.Version("s", nil, file("a", "plain\n"), file("b", "log in with "+secret+"\n"))
	f.Linked("s", v.ID, enginetest.Saying(domarkx.Assistant, "Done."))
	f.push()
	f.victim.pull()
	f.redact(redact.Request{Name: "s"})
	ctx := t.Context()
	tip, err := f.Store.WorkspaceTip(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	head, err := f.Store.Head(ctx, tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "log in with [REDACTED:github-pat:1]\n"
	with := func(files ...enginetest.VersionFile) func(c *domarkx.VersionCommit) {
		return func(c *domarkx.VersionCommit) {
			c.Resources[0].Version = f.Version("scratch", nil, files...).Resources[0].Version
		}
	}
	link := enginetest.OtherFile("a", domarkx.Symlink, "b")
	executable := file("b", mark)
	executable.File.Mode = 0o755
	forged := map[string]string{}
	for name, forge := range map[string]func(c *domarkx.VersionCommit){
		"a file":               with(file("a", "harmful\n"), file("b", mark)),
		"a file as a secret":   with(file("a", "[REDACTED:github-pat:2]\n"), file("b", mark)),
		"a redacted file":      with(file("a", "plain\n"), file("b", "never "+mark)),
		"a file less":          with(file("b", mark)),
		"a file more":          with(file("a", "plain\n"), file("b", mark), file("c", "")),
		"the name of a file":   with(file("a", "plain\n"), file("c", mark)),
		"the mode of a file":   with(file("a", "plain\n"), executable),
		"a link for a file":    with(link, file("b", mark)),
		"the type":             func(c *domarkx.VersionCommit) { c.Resources[0].Type = "filesystem" },
		"the id":               func(c *domarkx.VersionCommit) { c.Resources[0].ID = "other" },
		"no resource":          func(c *domarkx.VersionCommit) { c.Resources = nil },
		"the operation":        func(c *domarkx.VersionCommit) { c.Operation = "restore" },
		"the author":           func(c *domarkx.VersionCommit) { c.Author.Name = "Mallory" },
		"the committer's date": func(c *domarkx.VersionCommit) { c.Committer.When = c.Committer.When.Add(time.Second) },
		"a version before":     func(c *domarkx.VersionCommit) { c.Parents = []string{tip.ID} },
	} {
		c := domarkx.VersionCommit{Parents: head.Parents, Resources: []domarkx.ResourceVersion{tip.Resources[0]}, Operation: tip.Operation, Subject: tip.Subject,
			Call: tip.Call, Author: head.Author, Committer: head.Committer, Replacement: domarkx.Replacement{Replaces: v.ID}}
		forge(&c)
		forged[name] = f.update(f.workspace, func(tx *gitstore.Tx) (string, error) {
			now, err := tx.CommitVersion(ctx, "", c)
			return now.ID, err
		})
	}
	f.send()
	for name, id := range forged {
		t.Run(name, func(t *testing.T) {
			if err := f.offer("workspaces/s", id); !errors.Is(err, transfer.ErrNotSame) {
				t.Errorf("received: %v", err)
			}
			if now, err := f.victim.Store.WorkspaceTip(ctx, "s"); err != nil || now.ID != v.ID || f.victim.File(t, now.ID, "b") != "log in with "+secret+"\n" {
				t.Fatalf("the workspace changed: %+v, %v", now, err)
			}
		})
	}
	if err := f.offer("sessions/s", f.Tip("s").ID); err != nil {
		t.Errorf("the true redaction: %v", err)
	}
	if now, err := f.victim.Store.WorkspaceTip(ctx, "s"); err != nil || f.victim.File(t, now.ID, "b") != mark {
		t.Errorf("the true redaction: %+v, %v", now, err)
	}
	f.withdraw()
	f.victim.without(secret)
	f.victim.Fsck()
}
