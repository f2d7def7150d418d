package redact_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// step stores a version of the session's workspace, and a message that links it.
func (p peer) step(name, text string) domarkx.Version {
	p.T.Helper()
	v := p.Version(name, nil, enginetest.RegularFile("f", text+"\n"))
	p.Linked(name, v.ID, enginetest.Saying(domarkx.Assistant, text))
	return v
}

func (p peer) expire(policy redact.Policy) redact.Expired {
	p.T.Helper()
	done, err := p.redactions.Expire(p.T.Context(), policy, false)
	if err != nil {
		p.T.Fatal(err)
	}
	return done
}

// ended checks that the first and the last version which the messages of a session link have files.
func (p peer) ended(name string) {
	p.T.Helper()
	state, err := p.Store.Load(p.T.Context(), p.Tip(name).ID)
	if err != nil {
		p.T.Fatal(err)
	}
	var links []string
	for _, e := range state.Thread.Live {
		if e.Link != "" {
			links = append(links, e.Link)
		}
	}
	if len(links) == 0 {
		return
	}
	for _, link := range []string{links[0], links[len(links)-1]} {
		if v, err := p.Store.Version(p.T.Context(), link); err != nil || len(v.Resources) != 1 {
			p.T.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Store.WorkspaceTip(p.T.Context(), name); err != nil {
		p.T.Errorf("%s: %v", name, err)
	}
}

// TestExpiredInOtherSession pulls a fork that needs the only version which expired here. Its arrival brings back the history of the
// session, also that of its tracking ref. The pull must set this once more, because the session has a new message.
func TestExpiredInOtherSession(t *testing.T) {
	_, peers := newPeers(t, 2)
	a, b := peers[0], peers[1]
	for i := range 6 {
		a.step("s", fmt.Sprint("text ", i))
	}
	a.push()
	b.pull()
	if done := b.expire(redact.Policy{Newest: 4}); len(done.Versions) != 1 {
		t.Fatalf("%d versions expired", len(done.Versions))
	}
	if _, err := a.Fork(t.Context(), engine.Revision{Name: "s", Message: 1}, "fork"); err != nil {
		t.Fatal(err)
	}
	a.step("s", "more")
	a.push()
	b.pull()
	if !strings.Contains(b.Shown("s"), "more") {
		t.Error("the pull did not bring the message")
	}
	b.push()
	b.Fsck()
	for _, name := range []string{"s", "fork"} {
		b.ended(name)
	}
}

// TestExpiredApart lets clones add versions, fork sessions at old versions, let versions expire differently, pull and push at
// random. In the end all are equal and sound, no message is missing, and the first and last versions of all sessions have files.
func TestExpiredApart(t *testing.T) {
	for seed := range gittest.Rounds(1, 30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			_, peers := newPeers(t, 3)
			names, said := []string{"s"}, map[string]bool{}
			say := func(p peer, name string, n int) {
				text := fmt.Sprintf("text %d.", n)
				said[text] = true
				p.step(name, text)
			}
			for i := range 6 {
				say(peers[0], "s", i)
			}
			exchange := func(p peer) { p.pull(); p.push() }
			for _, p := range peers {
				exchange(p)
			}
			expired := 0
			for n := range 24 {
				p := peers[random.IntN(len(peers))]
				name := names[random.IntN(len(names))]
				if _, err := p.Store.Tip(t.Context(), name); err != nil {
					name = "s"
				}
				switch random.IntN(6) {
				case 0, 1:
					say(p, name, 100+n)
				case 2:
					expired += len(p.expire(redact.Policy{Newest: 1 + random.IntN(3)}).Versions)
					p.Fsck()
				case 3:
					expired += len(p.expire(redact.Policy{Before: time.Now().UTC().Truncate(time.Second).Add(time.Hour)}).Versions)
					p.Fsck()
				case 4:
					fork := fmt.Sprint("fork", n)
					_, err := p.Fork(t.Context(), engine.Revision{Name: name, Message: random.IntN(p.Tip(name).Messages)}, fork)
					var gone *domarkx.ExpiredError
					if err != nil && !errors.As(err, &gone) {
						t.Fatal(err)
					} else if err == nil {
						names = append(names, fork)
					}
				case 5:
					exchange(p)
					p.Fsck()
				}
			}
			for range 4 {
				for _, p := range peers {
					exchange(p)
				}
			}
			for _, p := range peers {
				if got, want := p.refs("refs/domarkx/"), peers[0].refs("refs/domarkx/"); got != want {
					t.Errorf("the clones differ:\n%s\n%s", got, want)
				}
				p.Fsck()
				all := ""
				for _, name := range names {
					p.ended(name)
					all += p.Shown(name)
				}
				for text := range said {
					if !strings.Contains(all, text) {
						t.Errorf("%q is missing", text)
					}
				}
			}
			if expired == 0 {
				t.Error("nothing expired")
			}
		})
	}
}

// TestForgedExpiry pulls histories that differ in more than expired files, although their commits say otherwise. They are refused.
func TestForgedExpiry(t *testing.T) {
	t.Parallel()
	_, peers := newPeers(t, 2)
	a, b := peers[0], peers[1]
	f := &forger{peer: a, victim: b}
	for i := range 4 {
		a.step("s", fmt.Sprint("text ", i))
	}
	a.push()
	b.pull()
	ctx := t.Context()
	tip := a.Tip("s")
	state, err := a.Store.Load(ctx, tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	old := state.Thread.Live[1].Link
	head, err := a.Store.Head(ctx, old)
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(c *domarkx.VersionCommit){
		"the operation": func(c *domarkx.VersionCommit) { c.Operation = "restore" },
		"the author":    func(c *domarkx.VersionCommit) { c.Author.Name = "Mallory" },
		"the date":      func(c *domarkx.VersionCommit) { c.Committer.When = c.Committer.When.Add(time.Second) },
		"the parents":   func(c *domarkx.VersionCommit) { c.Parents = nil },
	} {
		c := domarkx.VersionCommit{Parents: head.Parents, Operation: head.Version.Operation, Subject: head.Version.Subject, Author: head.Author, Committer: head.Committer,
			Replacement: domarkx.Replacement{Replaces: old, SameTexts: true}, Expired: &domarkx.Expiry{On: time.Now().UTC().Truncate(time.Second), Newest: 1}}
		forge(&c)
		id := f.update(f.session, func(tx *gitstore.Tx) (string, error) {
			v, err := tx.CommitVersion(ctx, "", c)
			if err != nil {
				return "", err
			}
			change := domarkx.Commit{Parents: []string{v.ID}, State: &domarkx.State{Headers: slices.Clone(state.Headers), Thread: state.Thread}, Bytes: tip.Bytes, Preview: tip.Preview,
				Operation: "append", Subject: "forged", Author: head.Author, Committer: head.Committer}
			info, err := tx.Commit(ctx, change)
			return info.ID, err
		})
		f.send()
		if err := f.offer("sessions/s", id); !errors.Is(err, transfer.ErrNotSame) {
			t.Errorf("%s: %v, want it to be refused", name, err)
		}
	}
}
