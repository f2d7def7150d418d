package redact_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
)

// token returns a made-up secret. It is put together here, so that no file has its text.
func token(n int) string {
	sum := sha256.Sum256([]byte{byte(n)})
	return "gh" + "p_" + hex.EncodeToString(sum[:18])
}

// scanner returns a scanner, whose rules are compiled when it first scans.
func scanner() *secrets.Scanner { return secrets.New([]byte("key"), nil) }

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// secret is put together here, so that no file has its text.
const secret = "gh" + "p_R7d0eW5tYu2gHj4KlMn6BvCx8ZaQ1oP3iUyT"

// picture returns a PNG image with a text in its metadata.
func picture(text string) string {
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind, data string) {
		binary.Write(&b, binary.BigEndian, uint32(len(data)))
		b.WriteString(kind + data)
		binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE([]byte(kind+data)))
	}
	chunk("IHDR", "\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00")
	chunk("tEXt", "comment\x00"+text)
	chunk("IEND", "")
	return b.String()
}

// markdown imports a document with files beside it.
func markdown(document string, files ...string) func(*enginetest.Clone) {
	return func(c *enginetest.Clone) {
		var attach []string
		for i := 0; i < len(files); i += 2 {
			path := c.WriteFile(files[i], files[i+1])
			if strings.HasSuffix(path, ".txt") {
				attach = append(attach, path)
			}
		}
		c.ImportOne(importer.Request{Paths: []string{c.WriteFile("s.md", document)}, Attach: attach})
	}
}

// call makes a call in the workspace of a session.
func call(tool string, pairs ...string) func(*enginetest.Clone) {
	return func(c *enginetest.Clone) {
		c.Trusted("s", enginetest.NotesConfig+"\n## user\n\nBegin.\n")
		if _, err := c.Exec(c.T.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: tool, Pairs: pairs}); err != nil {
			c.T.Fatal(err)
		}
	}
}

func revision(name string) engine.Revision { return engine.Revision{Name: name, Message: -1} }

// described stores a snapshot with that subject and that author.
func described(subject, author string) func(*enginetest.Clone) {
	return func(c *enginetest.Clone) {
		tip := c.Appended("s", "Hello.")
		state, err := c.Store.Load(c.T.Context(), tip.ID)
		if err != nil {
			c.T.Fatal(err)
		}
		who := domarkx.Signature{Name: author, Email: "ada@example.org", When: c.Now}
		err = c.Store.Update(c.T.Context(), "test", func(tx *gitstore.Tx) error {
			now, err := tx.Commit(c.T.Context(), domarkx.Commit{Parents: []string{tip.ID}, State: state, Bytes: tip.Bytes, Preview: tip.Preview, Operation: "edit", Subject: subject, Author: who, Committer: who})
			if err != nil {
				return err
			}
			return tx.Set(c.T.Context(), "s", now.ID)
		})
		if err != nil {
			c.T.Fatal(err)
		}
	}
}

// places are the places of a session, each with a secret, and where scan reports it. Refused are those that cannot be edited.
var places = map[string]struct {
	make    func(*enginetest.Clone)
	where   string // as a regular expression
	refused bool
}{
	"text":                  {make: func(c *enginetest.Clone) { c.Appended("s", "Use "+secret+".") }, where: `text`},
	"code":                  {make: markdown("## user\n\n```go\nvar key = \"" + secret + "\"\n```\n"), where: `go`},
	"argument":              {make: markdown("## assistant\n\n```tool-call\n{\"resource\": \"x\", \"tool\": \"login\", \"arguments\": {\"user\": \"me\", \"password\": \"hunter2hunter2\"}}\n```\n"), where: `tool-call`},
	"result":                {make: markdown("## assistant\n\n```tool-result\n{\"stdout\": \"postgres://me:R7d0eW5t@db.internal/app\\n\"}\n```\n"), where: `tool-result`},
	"result, escaped":       {make: markdown("## assistant\n\n```tool-result\n{\"stdout\": \"PASSWORD='hun\\\"ter2\\\\hun'\\n\"}\n```\n"), where: `tool-result`},
	"front matter":          {make: markdown("---\ndb_password: hunter2!x\n---\n\n## user\n\nHello.\n"), where: `front matter`},
	"metadata of header":    {make: markdown("---\nbilling: " + secret + "\n---\n\n## user\n\nHello.\n"), where: `metadata\.user_metadata\.billing`},
	"workspace-config":      {make: markdown("```workspace-config\nresources:\n  - {type: notes, title: " + secret + "}\n```\n\n## user\n\nHello.\n"), where: `execution_config|execution_config\.workspace.*`},
	"preamble":              {make: markdown("Begin with " + secret + ".\n\n## user\n\nHello.\n"), where: `front matter`},
	"message_metadata":      {make: markdown("## user\n\n```msg-metadata\n{\"origin\": \"https://me:hunter2hunter2@example.org\"}\n```\n\nHello.\n"), where: `message_metadata\.origin`},
	"included file":         {make: markdown("## user\n\n[include](part.md)\n", "part.md", "PASSWORD=hunter4hunter4\n"), where: `included part\.md`},
	"attachment":            {make: markdown("## user\n\nHello.\n", "note.txt", "log in with "+secret+"\n"), where: `attachment [0-9a-f]{12}`},
	"attachment, JSON":      {make: markdown("## user\n\nHello.\n", "note.txt", `{"password": "hunter4hunter4"}`+"\n"), where: `attachment [0-9a-f]{12}`},
	"name of an attachment": {make: markdown("## user\n\nHello.\n", secret+".txt", "x\n"), where: `attachment [0-9a-f]{12}|attached.*`},
	"image":                 {make: markdown("## user\n\nLook: ![shot](shot.png)\n", "shot.png", picture("made with "+secret)), where: `attachment [0-9a-f]{12}`, refused: true},
	"original": {make: func(c *enginetest.Clone) {
		c.ImportOne(importer.Request{As: "s", Paths: []string{c.WriteFile("a.jsonl", `{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u1","sessionId":"5e55","cwd":"/w","unknown":{"token":"`+secret+`"},"timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Hello"}}`+"\n")}})
	}, where: `original`},
	"subject": {make: described("merge with "+secret, "Ada"), where: `description of the snapshot`},
	"older text": {make: func(c *enginetest.Clone) {
		c.Appended("s", "Use "+secret+".")
		c.Saved("s", c.Tip("s").ID, strings.Replace(c.Shown("s"), secret, "nothing", 1))
	}, where: `text in snapshot [0-9a-f]{12}`},
	"file of a workspace": {make: call("write", "name=a.txt", "text=key = "+secret), where: `notes/a\.txt in workspace version [0-9a-f]{12}`},
	"name of a file":      {make: call("write", "name="+secret, "text=x"), where: `notes/ghp_.* in workspace version [0-9a-f]{12}`, refused: true},
	"config of a resource": {make: func(c *enginetest.Clone) {
		c.Trusted("s", "```workspace-config\nresources:\n  - {type: notes, title: "+secret+"}\n```\n\n## user\n\nBegin.\n")
		if _, err := c.Exec(c.T.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=x"}}); err != nil {
			c.T.Fatal(err)
		}
	}, where: `resources.* in workspace version [0-9a-f]{12}|.*\.json in workspace version [0-9a-f]{12}`},
}

// TestPlaces puts a secret into each place of a session. Scan finds it there, and redact replaces it or says that it cannot.
func TestPlaces(t *testing.T) {
	for name, p := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := enginetest.New(t)
			scans := scan.New(c.Store, c.Env)
			p.make(c)
			found := findings(t, c, scans)
			where := regexp.MustCompile(`^(` + p.where + `)$`)
			t.Logf("found %+v", found)
			there := false
			for _, f := range found {
				there = there || where.MatchString(f.Where)
			}
			if !there {
				t.Fatalf("no finding in %s: %+v", where, found)
			}
			before := c.Shown("s")
			result, err := redact.New(c.SessionManager, redact.NewRedactor(c.Store, c.Env, scans)).Redact(t.Context(), redact.Request{Name: "s"})
			if err != nil {
				t.Fatal(err)
			}
			if p.refused {
				if len(result.Stuck) == 0 || len(result.Kept) > 0 || c.Shown("s") != before {
					t.Errorf("not refused: %+v", result)
				}
				return
			}
			if len(result.Stuck) > 0 || result.Secrets != 1 {
				t.Errorf("%+v", result)
			}
			if left := findings(t, c, scan.New(c.Store, c.Env)); len(left) > 0 {
				t.Errorf("left: %+v", left)
			}
			if objects := reachable(t, c.Dir); strings.Contains(objects, secret) || strings.Contains(objects, "hunter") || strings.Contains(objects, "R7d0eW5t") {
				t.Error("an object has the secret")
			}
			c.Shown("s")
			c.Fsck()
		})
	}
}

// findings scans the session and its workspace.
func findings(t *testing.T, c *enginetest.Clone, scans *scan.Manager) []scan.Finding {
	t.Helper()
	tips := []string{c.Tip("s").ID}
	if v, err := c.Store.WorkspaceTip(context.Background(), "s"); err == nil {
		tips = append(tips, v.ID)
	}
	found, err := scans.Session(t.Context(), transfer.Outgoing{Session: "s", Tips: tips}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// reachable returns the raw objects that live refs reach.
func reachable(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `git for-each-ref --format='%(objectname)' refs/domarkx | git rev-list --objects --no-object-names --stdin | git cat-file --batch`)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	return string(out)
}

// TestForeignPlaceholders redacts a session that has placeholders of another one: they keep standing for what they stood for, and
// members of one object stay distinct.
func TestForeignPlaceholders(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	markdown("## user\n\n```msg-metadata\n{\"" + secret + "\": 1, \"[REDACTED:github-pat:1]\": 2}\n```\n\nHello.\n")(p.Clone)
	p.Appended("s", "Elsewhere it was [REDACTED:github-pat:3].")
	p.redact(redact.Request{Name: "s"})
	shown := p.Shown("s")
	for _, want := range []string{`"[REDACTED:github-pat:4]": 1`, `"[REDACTED:github-pat:1]": 2`, "Elsewhere it was [REDACTED:github-pat:3]."} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("%s is not there once:\n%s", want, shown)
		}
	}
	p.Appended("s", "New is "+other+" now")
	if p.redact(redact.Request{Name: "s"}); !strings.Contains(p.Shown("s"), "New is [REDACTED:gitlab-pat:5] now") {
		t.Errorf("%s", p.Shown("s"))
	}
	p.Fsck()
}
