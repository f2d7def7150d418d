package transfer_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/engine/redact"
	"github.com/domarkx/domarkx/git-domarkx/engine/scan"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
)

// token returns a made-up secret. It is put together here, so that no file has its text.
func token(n int) string {
	sum := sha256.Sum256([]byte{byte(n)})
	return "gh" + "p_" + hex.EncodeToString(sum[:18])
}

func (c clone) redact(name string) redact.Result {
	c.T.Helper()
	m := redact.New(c.SessionManager, c.Store, c.Env, scan.New(c.Store, c.Env))
	r, err := m.Redact(c.T.Context(), redact.Request{Name: name})
	if err != nil {
		c.T.Fatal(err)
	}
	return r
}

func (c clone) sync() {
	c.T.Helper()
	for range 3 {
		c.pull("s")
		results, err := c.Push(c.T.Context(), transfer.PushRequest{Remote: "origin", Names: []string{"s"}}, nil)
		if err != nil {
			c.T.Fatal(err)
		}
		if !results[0].Failed {
			return
		}
	}
}

// reachable returns the content of all objects that refs reach, without those of the trash.
func reachable(t *testing.T, dir string) string {
	t.Helper()
	script := `git for-each-ref --format='%(objectname) %(refname)' | grep -v ' refs/domarkx-trash/redacted/' | cut -d' ' -f1 | git rev-list --objects --stdin |
		cut -d' ' -f1 | git cat-file --batch='%(objecttype)'; cat $(git rev-parse --git-dir)/domarkx/* 2>/dev/null; cat $(git rev-parse --git-dir)/logs/refs -r 2>/dev/null; true`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestRedactionsConverge appends, edits, exchanges and redacts on three clones in any order. Afterwards all have the same
// session with every message and without a secret, and nothing but the trash leads to one.
func TestRedactionsConverge(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for seed := range rounds {
		steps := rapid.SliceOfN(rapid.IntRange(0, 1<<16), 10, 18).Example(seed + 1)
		remote := newRemote(t)
		clones := []clone{newClone(t, remote), newClone(t, remote), newClone(t, remote)}
		clones[0].Appended("s", "begin")
		clones[0].push("s")
		clones[1].pull("s")
		clones[2].pull("s")
		var texts []string
		secrets := 0
		for i, step := range steps {
			c := clones[step%3]
			switch step / 3 % 6 {
			case 0, 1:
				text := fmt.Sprintf("message %d of clone %d", i, step%3)
				c.Appended("s", text)
				texts = append(texts, text)
			case 2:
				text := fmt.Sprintf("message %d of clone %d", i, step%3)
				c.Appended("s", text+" has "+token(secrets))
				secrets++
				texts = append(texts, text)
			case 3:
				c.redact("s")
			case 4:
				c.pull("s")
			case 5:
				c.sync()
			}
		}
		for _, c := range clones {
			c.sync()
		}
		for _, c := range clones {
			c.redact("s")
			c.sync()
		}
		for range 2 {
			for _, c := range clones {
				c.sync()
			}
		}
		shown := clones[0].Shown("s")
		for i, c := range clones {
			if got := c.Shown("s"); got != shown {
				t.Errorf("seed %d: clone %d has %q, clone 0 %q", seed, i, got, shown)
			}
			c.Fsck()
			for n := range secrets {
				if strings.Contains(reachable(t, c.Dir), token(n)) {
					t.Errorf("seed %d: clone %d still has secret %d", seed, i, n)
				}
			}
		}
		for n := range secrets {
			if strings.Contains(reachable(t, remote), token(n)) {
				t.Errorf("seed %d: the remote still has secret %d", seed, n)
			}
		}
		for _, text := range texts {
			if !strings.Contains(shown, text) {
				t.Errorf("seed %d: %q is lost", seed, text)
			}
		}
	}
}
