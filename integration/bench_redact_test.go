package integration_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/all"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	sessionview "github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// BenchmarkRedact redacts sessions of 1,000 and of 4,000 snapshots, each with one more message and one more line of its original. A snapshot costs the same
// in both.
func BenchmarkRedact(b *testing.B) {
	lengths := []int{1000, 4000}
	var each, again, pulled []float64
	for _, length := range lengths {
		r := newRepository(b)
		history(b, r.dir, length, true)
		git, err := gitcmd.Discover(b.Context(), r.dir, nil)
		if err != nil {
			b.Fatal(err)
		}
		store, err := gitstore.Open(b.Context(), git)
		if err != nil {
			b.Fatal(err)
		}
		env := local.Environment{StateDir: git.StateDir(), WorkTree: git.WorkTree, Local: local.NewFile(git)}
		scans := scan.New(store, env)
		redactor := redact.NewRedactor(store, env, scans)
		redactions := redact.New(engine.New(store, all.Codecs(), env, redactor), redactor)
		each = append(each, milliseconds(processorTime(b, func() {
			if result, err := redactions.Redact(b.Context(), redact.Request{Name: "s"}); err != nil || result.Secrets != 2 {
				b.Fatal(result, err)
			}
		}))/float64(length))
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	for _, length := range lengths {
		r := newRepository(b)
		history(b, r.dir, length, false)
		r.git("init", "-q", "--bare", "-b", "main", "hub.git")
		r.domarkx("push", "--allow-secrets", "./hub.git", "s")
		r.git("init", "-q", "-b", "main", "other")
		other := r.at("other")
		other.domarkx("pull", "../hub.git")
		r.domarkx("redact", "s")
		start, _ := r.used("git-domarkx", "version")
		cpu, _ := r.used("git-domarkx", "scan")
		again = append(again, milliseconds(cpu-start)/float64(length))
		r.domarkx("push", "./hub.git", "s")
		cpu, _ = other.used("git-domarkx", "pull", "../hub.git")
		pulled = append(pulled, milliseconds(cpu-start)/float64(length))
	}
	score(b, "redact 1,000 snapshots of a growing transcript: CPU for each", each[0], 0, "ms")
	score(b, "redact 4,000 snapshots: CPU for each, against 1,000", each[1]/each[0], 1.5, "x")
	score(b, "pull of 4,000 redacted snapshots: CPU for each, against 1,000", pulled[1]/pulled[0], 1.5, "x")
	score(b, "scan of 4,000 new snapshots: CPU for each, against 1,000", again[1]/again[0], 1.3, "x")
}

// history makes a session with, if wanted, a growing original, and that many snapshots, two of them with a new secret.
func history(b *testing.B, dir string, length int, original bool) {
	b.Helper()
	git, err := gitcmd.Discover(b.Context(), dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	store, err := gitstore.Open(b.Context(), git)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	err = store.Update(b.Context(), "test", func(tx *gitstore.Tx) error {
		var tip domarkx.Info
		grower, err := tx.NewOriginGrower("claude-code")
		if err != nil {
			return err
		}
		var after domarkx.ID
		header := domarkx.NewHeader()
		for i := range length {
			when := time.Unix(1_700_000_000+int64(i), 0).UTC()
			who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: when}
			text := strings.Repeat(fmt.Sprintf("message %d says something. ", i), 8)
			if i == 5 || i == length/2 {
				text += "gh" + "p_" + fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))[:36]
			}
			written := markdown.WriteMessage(domarkx.Message{Role: "user", Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: text}}})
			entry := edit.EntryOf(written, 0)
			entry.ID, entry.After = domarkx.NewID(uint32(i), when), after
			after = entry.ID
			commit := domarkx.Commit{State: &domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{entry}}}, Operation: "append", Subject: "append s",
				Bytes: tip.Bytes + entry.Layout.Size + 1, Author: who, Committer: who}
			top := domarkx.HeaderEntry{JSON: domarkx.Blob{Data: sessionview.PrettyJSON(header.Value())}, Layout: markdown.WriteHeader(header).Layout}
			if err := grower.Append(b.Context(), fmt.Appendf(nil, "{\"text\": %q}\n", text)); err != nil {
				return err
			}
			if original {
				if top.Origin, err = grower.Tree(b.Context()); err != nil {
					return err
				}
			}
			commit.State.Headers = []domarkx.HeaderEntry{top}
			if i == 0 {
				commit.Bytes = entry.Layout.Size
				tip, err = tx.Commit(b.Context(), commit)
			} else {
				commit.Parents = []string{tip.ID}
				tip, err = tx.Append(b.Context(), commit)
			}
			if err != nil {
				return err
			}
		}
		return tx.Set(b.Context(), "s", tip.ID)
	})
	if err != nil {
		b.Fatal(err)
	}
}
