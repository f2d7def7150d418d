package gitstore_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// counted counts the checks of documents.
type counted struct {
	messages int
	base     string
	same     int
}

func (c *counted) Message(domarkx.Entry, domarkx.Message) error {
	c.messages++
	return nil
}

func (c *counted) Snapshot(_ context.Context, _, base string, same int) error {
	c.base, c.same = base, same
	return nil
}

// incoming verifies a commit as if it came from a remote.
func incoming(t *testing.T, s *gitstore.Store, id string) (counted, error) {
	t.Helper()
	var c counted
	ref := refdb.Ref{Name: refname.Sessions.Ref("s"), ID: id}
	bad, err := s.Verify(context.Background(), []refdb.Ref{ref}, &c)
	if err != nil {
		t.Fatal(err)
	}
	return c, bad[ref.Name]
}

// TestVerifyReadsWhatIsNew checks that only content that no local ref reaches is read.
func TestVerifyReadsWhatIsNew(t *testing.T) {
	s, dir := newStore(t)
	first := save(t, s, "s", conversation(5000))
	git(t, dir, "update-ref", "-d", refname.Sessions.Ref("s"))
	if c, err := incoming(t, s, first.ID); c.messages != 5000 || c.base != "" || err != nil {
		t.Errorf("of a new session: %+v, %v", c, err)
	}
	git(t, dir, "update-ref", refname.Sessions.Ref("s"), first.ID)
	if c, err := incoming(t, s, first.ID); c.messages != 0 || err != nil {
		t.Errorf("of what is here: %+v, %v", c, err)
	}
	second := save(t, s, "s", conversation(5003))
	git(t, dir, "update-ref", refname.Sessions.Ref("s"), first.ID)
	if c, err := incoming(t, s, second.ID); c.messages != 3 || c.base != first.ID || c.same < 4984 || c.same > 5000 || err != nil {
		t.Errorf("of three messages more: %+v, %v", c, err)
	}
}

func TestVerifyOriginals(t *testing.T) {
	s, dir := newStore(t)
	text := strings.Repeat("a line of an original\n", 100_000)
	grown := text + strings.Repeat("more of it\n", 50_000)
	of := func(content string, digest [32]byte) domarkx.Info {
		var info domarkx.Info
		update(t, s, func(tx *gitstore.Tx) error {
			ctx := context.Background()
			var parents []string
			if tip, err := tx.Tip(ctx, "s"); err == nil {
				parents = []string{tip.ID}
			}
			w, err := tx.BeginOrigin("pi", strings.NewReader(content), digest)
			if err != nil {
				return err
			}
			state := conversation(1)
			if state.Headers[0].Origin, err = w.Finish(ctx); err != nil {
				return err
			}
			if info, err = tx.Commit(ctx, commitOf(state, parents...)); err != nil {
				return err
			}
			return tx.Set(ctx, "s", info.ID)
		})
		return info
	}
	of(text, sha256.Sum256([]byte(text)))
	tip := of(grown, sha256.Sum256([]byte(grown)))
	git(t, dir, "update-ref", "-d", refname.Sessions.Ref("s"))
	if _, err := incoming(t, s, tip.ID); err != nil {
		t.Errorf("of an original that grew: %v", err)
	}
	git(t, dir, "update-ref", refname.Sessions.Ref("s"), tip.ID)
	forged := strings.Replace(grown, "more", "less", 1)
	original := git(t, dir, "cat-file", "blob", tip.ID+":source/original") + "\n"
	bad := rewritten(t, dir, tip.ID, map[string]string{"source/original": strings.Replace(original, original[strings.Index(original, "sha256 "):],
		fmt.Sprintf("sha256 %x\n", sha256.Sum256([]byte(forged))), 1)}, "Number: 2", "Number: 1")
	if _, err := incoming(t, s, bad); err == nil || !strings.Contains(err.Error(), "original document") {
		t.Errorf("of an original with another digest: %v", err)
	}
}
