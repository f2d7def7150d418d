package redact_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

// objects returns all objects of the repository, whether a ref leads to them or not, by their ids.
func (p peer) objects() map[string]string {
	p.T.Helper()
	cmd := exec.Command("git", "-C", p.Dir, "cat-file", "--batch-all-objects", "--batch", "--unordered")
	out, err := cmd.Output()
	if err != nil {
		p.T.Fatal(err)
	}
	all := map[string]string{}
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		var id, kind string
		var size int
		if _, err := fmt.Sscan(string(head), &id, &kind, &size); err != nil {
			p.T.Fatal(err)
		}
		all[id], out = kind+" "+string(rest[:size]), rest[size+1:]
	}
	return all
}

// TestRawSearch plants secrets at random in texts, attachments, originals, files, descriptions and the user's own branches, in
// loose and packed objects, and redacts with --purge. Then no object and no file in .git has one but what the user committed,
// and all else has the same bytes as before.
func TestRawSearch(t *testing.T) {
	formats := []string{"sha1", "sha256"}
	for seed := range 2 {
		format := formats[seed%2]
		t.Run(fmt.Sprint(format, seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 7))
			dir := t.TempDir()
			git(t, dir, "init", "-q", "-b", "main", "--object-format="+format)
			p := newPeer(enginetest.Open(t, dir, &enginetest.Settings{Values: map[string][]string{}}))
			secrets := []string{secret, other, token(1)}
			planted := func(text string) string { // the text, or the text with a secret
				if random.IntN(2) == 0 {
					return text + "\n"
				}
				return text + " " + secrets[random.IntN(len(secrets))] + "\n"
			}
			var keep []string // texts that must stay as they are
			kept := func(text string) string { keep = append(keep, text); return text }

			// The user's own branch, tag and stash, which no redaction touches.
			p.WriteFile("mine", "mine has "+token(2)+"\n")
			git(t, dir, "add", "mine")
			git(t, dir, "commit", "-qm", "mine")
			git(t, dir, "tag", "-am", "about "+token(2), "v1")
			p.WriteFile("mine", "stashed\n")
			git(t, dir, "stash")
			own := p.refs("refs/heads") + p.refs("refs/tags") + p.refs("refs/stash")

			p.ImportOne(importer.Request{Paths: []string{p.WriteFile("s.md", "---\nnote: "+planted("begin")+"---\n\n## user\n\n"+planted("Hello")+"\n## assistant\n\nUntouched.\n")},
				Attach: []string{p.WriteFile("a.txt", planted("attached")), p.WriteFile("b.txt", kept("no secret is here\n"))}})
			for range 3 + random.IntN(4) {
				switch random.IntN(4) {
				case 0:
					p.Appended("s", planted("more"))
				case 1:
					v := p.Version("s", nil, enginetest.RegularFile("a", planted("file")), enginetest.RegularFile("b", kept("plain file\n")))
					p.Linked("s", v.ID, enginetest.Saying(domarkx.Assistant, planted("wrote")))
				case 2:
					p.ImportOne(importer.Request{As: "s", Attach: []string{p.WriteFile(fmt.Sprint("c", random.IntN(9), ".txt"), planted("later"))}, Paths: []string{p.WriteFile("s.md", p.Shown("s")+"\n## user\n\n"+planted("imported"))}})
				case 3: // some objects are packed, others are loose
					git(t, dir, "repack", "-qd")
				}
			}
			p.Appended("s", "At least "+secret+".")
			p.Appended("beside", kept("Nothing secret is in this session."))
			other := p.Tip("beside").ID
			p.Unpacked(random.IntN(3) == 0)
			mine, shown := p.objects(), p.Shown("s")
			p.redact(redact.Request{Name: "s", Purge: true})

			after := p.objects()
			for id, content := range after {
				for _, s := range secrets {
					if strings.Contains(content, s) {
						t.Errorf("the object %s has a secret: %.300q", id, content)
					}
				}
			}
			for _, s := range secrets {
				if found := p.files(s); len(found) > 0 {
					t.Errorf("a secret is in %q", found)
				}
			}
			for _, text := range keep {
				if !slices.Contains(slices.Collect(maps.Values(after)), "blob "+text) && !strings.Contains(p.Shown("beside"), text) {
					t.Errorf("%q is gone", text)
				}
			}
			if now := p.refs("refs/heads") + p.refs("refs/tags") + p.refs("refs/stash"); now != own || p.Tip("beside").ID != other {
				t.Errorf("another ref moved: %s", now)
			}
			for _, id := range strings.Fields(git(t, dir, "rev-list", "--objects", "--no-object-names", "main", "v1", "refs/stash", "refs/domarkx/sessions/beside")) {
				if after[id] != mine[id] || after[id] == "" {
					t.Errorf("the object %s of another ref changed", id)
				}
			}
			h := &history{Clone: p.Clone, secrets: secrets}
			h.compare("s", shown, p.Shown("s"), map[string]string{})
			p.Fsck()
		})
	}
}

// Unpacked makes all objects loose, or packs all of them.
func (p peer) Unpacked(loose bool) {
	p.T.Helper()
	if git(p.T, p.Dir, "repack", "-qad"); loose {
		p.Unpack()
	}
}

// TestOwnRefs redacts a session whose commits are in a user's branch: it names the branch, and a purge leaves the branch's objects.
func TestOwnRefs(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	p.Appended("s", "Nothing.")
	old := p.Appended("s", "Use "+secret+".")
	git(t, p.Dir, "update-ref", "refs/heads/mine", old.ID)
	git(t, p.Dir, "tag", "before", old.ID+"~1")
	result := p.redact(redact.Request{Name: "s"})
	if !slices.Equal(result.Elsewhere, []string{"refs/heads/mine"}) || len(result.Kept) != 1 {
		t.Errorf("%+v", result)
	}
	if result = p.redact(redact.Request{Name: "s", Purge: true}); result.Kept != nil || git(t, p.Dir, "cat-file", "-t", old.ID) != "commit" {
		t.Errorf("the branch lost its commit: %+v", result)
	}
	git(t, p.Dir, "update-ref", "-d", "refs/heads/mine")
	if found := p.refs("refs/domarkx-trash"); found != "" {
		t.Errorf("the trash has %s", found)
	}
	p.Fsck()
}

// TestPurgeKeepsOthers removes the replaced objects of one session only, and objects that a live workspace needs stay.
func TestPurgeKeepsOthers(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	call("write", "name=n", "text=with "+secret)(p.Clone)
	p.Appended("second", "It has "+other+".")
	p.redact(redact.Request{Name: "second"})
	p.redact(redact.Request{Name: "s"})
	trash := func() int { return strings.Count(p.refs("refs/domarkx-trash/redacted"), "refs/") }
	if n := trash(); n != 3 {
		t.Fatalf("%d histories in the trash", n)
	}
	if result := p.redact(redact.Request{Name: "s", Purge: true}); result.Purged.Removed == 0 || result.Replaced != 0 || trash() != 1 {
		t.Errorf("%+v, %d in the trash", result, trash())
	}
	if result := p.redact(redact.Request{Name: "s", Purge: true}); result.Purged.Removed != 0 {
		t.Errorf("purged again: %+v", result)
	}
	if _, err := p.redactions.Undo(t.Context(), "s"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("restored after a purge: %v", err)
	}
	if _, err := p.redactions.Undo(t.Context(), "second"); err != nil || !strings.Contains(p.Shown("second"), other) {
		t.Errorf("the other session cannot be restored: %v", err)
	}
	yes := trust.Consent{Yes: true}
	if _, err := p.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "read", Pairs: []string{"name=n"}, Approve: yes}); err != nil {
		t.Fatal(err)
	}
	if shown := p.Shown("s"); !strings.Contains(shown, "with [REDACTED:github-pat:1]") || strings.Contains(shown, secret) {
		t.Errorf("the live workspace has %s", shown)
	}
	p.Fsck()
}
