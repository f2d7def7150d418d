package redact_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// A history makes random sessions in a clone, with secrets in some of their texts.
type history struct {
	*enginetest.Clone
	random   *rand.Rand
	secrets  []string
	sessions []string
	bases    []state // earlier states of the session "s"
}

type state struct{ id, shown string }

// text returns words and secrets.
func (h *history) text() string {
	var words []string
	for range 1 + h.random.IntN(6) {
		if h.random.IntN(3) == 0 {
			words = append(words, h.secrets[h.random.IntN(len(h.secrets))])
		}
		words = append(words, []string{"the", "key", "is", "here:", "über", "done."}[h.random.IntN(6)])
	}
	return strings.Join(words, " ")
}

func (h *history) session() string { return h.sessions[h.random.IntN(len(h.sessions))] }

// step changes a session in one of the ways in which users and programs do.
func (h *history) step() {
	h.T.Helper()
	ctx := h.T.Context()
	h.bases = append(h.bases, state{h.Tip("s").ID, h.Shown("s")})
	var err error
	switch h.random.IntN(7) {
	case 0, 1:
		h.Appended(h.session(), h.text())
	case 2: // an edit
		name := h.session()
		h.Saved(name, h.Tip(name).ID, strings.Replace(h.Shown(name), "key", h.text(), 1)+"\n## assistant\n\n"+h.text()+"\n")
	case 3: // a save over a session that moved on, which is merged
		base := h.bases[h.random.IntN(len(h.bases))]
		h.Saved("s", base.id, base.shown+"\n## user\n\n"+h.text()+"\n")
	case 4: // a call
		_, err = h.Exec(ctx, turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=" + h.text()}})
	case 5:
		name := fmt.Sprintf("fork%d", len(h.sessions))
		if _, err = h.Fork(ctx, engine.Revision{Name: h.session(), Message: -1}, name); err == nil {
			h.sessions = append(h.sessions, name)
		}
	case 6: // what is removed stays in the history
		name := h.session()
		shown := h.Shown(name)
		if at := strings.LastIndex(shown, "\n## "); at > strings.Index(shown, "## ") {
			h.Saved(name, h.Tip(name).ID, shown[:at+1])
		}
	}
	if err != nil {
		h.T.Fatal(err)
	}
}

var numbered = regexp.MustCompile(`\[REDACTED:[a-z-]+:(\d+)\]`)

// TestRandomHistories redacts random histories: no live object has a secret, every snapshot is still there, texts differ only in
// placeholders, one for each secret, and later additions get the same ones.
func TestRandomHistories(t *testing.T) {
	for seed := range gittest.Rounds(2, 60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &history{Clone: enginetest.New(t), random: rand.New(rand.NewPCG(uint64(seed), 1)), sessions: []string{"s"}}
			for _, end := range []string{"", "a", "b"} {
				h.secrets = append(h.secrets, secret[:len(secret)-len(end)]+end)
			}
			h.Trusted("s", enginetest.NotesConfig+"\n## user\n\nBegin with "+h.secrets[0]+".\n")
			for range 4 + h.random.IntN(12) {
				h.step()
			}
			before, numbers := map[string]string{}, map[string]int{}
			for _, name := range h.sessions {
				before[name], numbers[name] = h.Shown(name), h.Tip(name).Number
			}
			scans := scan.New(h.Store, h.Env)
			redactor := redact.NewRedactor(h.Store, h.Env, scans)
			h.Redacts(redactor)
			redactions := redact.New(h.SessionManager, redactor)
			result, err := redactions.Redact(t.Context(), redact.Request{Name: "s"})
			if err != nil || len(result.Stuck) > 0 || result.Secrets == 0 {
				t.Fatalf("%+v, %v", result, err)
			}
			of := map[string]string{} // placeholder → its secret
			for _, name := range h.sessions {
				if n := h.Tip(name).Number; n != numbers[name] {
					t.Errorf("%s has %d snapshots, and had %d", name, n, numbers[name])
				}
				h.compare(name, before[name], h.Shown(name), of)
			}
			h.none()
			if again, err := redactions.Redact(t.Context(), redact.Request{Name: "s"}); err != nil || again.Replaced > 0 {
				t.Errorf("redacted again: %+v, %v", again, err)
			}
			for _, s := range h.secrets {
				h.Appended(h.session(), "once more "+s)
			}
			h.ImportOne(importer.Request{Paths: []string{h.WriteFile("s.md", enginetest.NotesConfig+"\n## user\n\nBegin with "+h.secrets[0]+".\n\n## user\n\nand "+h.secrets[1]+"\n")}})
			h.none()
			known := map[string]string{}
			for p, s := range of {
				if known[s] != "" && known[s] != p {
					t.Errorf("a secret has the placeholders %s and %s", known[s], p)
				}
				known[s] = p
			}
			for _, name := range h.sessions {
				for _, m := range regexp.MustCompile(`once more (\S+)`).FindAllStringSubmatch(h.Shown(name), -1) {
					if _, ok := of[m[1]]; !ok && len(of) == len(h.secrets) {
						t.Errorf("%s: an added secret has the new placeholder %s, the others %q", name, m[1], of)
					}
				}
			}
			h.Fsck()
		})
	}
}

// compare checks that two texts differ only in that the second one has placeholders for secrets, and adds these to of.
func (h *history) compare(name, before, after string, of map[string]string) {
	h.T.Helper()
	for before != "" || after != "" {
		at := numbered.FindStringIndex(after)
		if at == nil {
			if before != after {
				h.T.Errorf("%s ends in %q, and ended in %q", name, after, before)
			}
			return
		}
		i := slices.IndexFunc(h.secrets, func(s string) bool { return strings.HasPrefix(before[min(at[0], len(before)):], s) })
		if before[:min(at[0], len(before))] != after[:at[0]] || i < 0 {
			h.T.Errorf("%s has %q for %q", name, after, before)
			return
		}
		mark := after[at[0]:at[1]]
		if was := of[mark]; was != "" && was != h.secrets[i] {
			h.T.Errorf("%s stands for two secrets", mark)
		}
		of[mark] = h.secrets[i]
		before, after = before[at[0]+len(h.secrets[i]):], after[at[1]:]
	}
}

// none checks that no object that a live ref reaches has a secret.
func (h *history) none() {
	h.T.Helper()
	objects := reachable(h.T, h.Dir)
	for _, s := range h.secrets {
		if strings.Contains(objects, s) {
			h.T.Error("an object has a secret")
		}
	}
}
