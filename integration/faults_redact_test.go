package integration_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestFaultKillRedact kills redactions of a session and its fork. Both must be completely old or completely new, and the next
// redaction completes the rest: then only the trash leads to the secret.
func TestFaultKillRedact(t *testing.T) {
	t.Parallel()
	r, random := newRepository(t), newRandom(t)
	secret := "gh" + "p_" + "qrstuvwxyz0123456789ABCDEFGHIJ456789"
	begin := func(name string) {
		text := ""
		for k := range 3 {
			text += fmt.Sprintf("## user\n\nmessage %d of %s has %s\n\n", k, name, secret)
		}
		r.write("in/"+name+".md", text)
		r.domarkx("import", "in/"+name+".md")
		r.domarkx("append", "-m", "one more has "+secret, name)
		r.domarkx("fork", name, name+"-fork")
		r.domarkx("append", "-m", "the fork has "+secret, name+"-fork")
		r.domarkx("search", "fork") // makes an index
	}
	noLock := func() { // the lock of the search index is a file that stays
		if err := os.Remove(r.path(".git/domarkx/search.lock")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	number := 0
	takes := typical(func() {
		number++
		begin(fmt.Sprint("typical", number))
	}, func() { r.domarkx("redact", fmt.Sprint("typical", number)) })
	olds, news, kills := 0, 0, 0
	for i := range rounds(t, 30) {
		name := fmt.Sprint("s", i)
		begin(name)
		old := r.shown(name, name+"-fork")
		redacted := []string{strings.ReplaceAll(old[0], secret, "[REDACTED:github-pat:1]"), strings.ReplaceAll(old[1], secret, "[REDACTED:github-pat:1]")}
		command := []string{"redact", name}
		if i%3 == 2 {
			command = []string{"redact", "--purge", name}
		}
		if _, finished := r.killed(moment(random, takes), i%killWays, command...); !finished {
			kills++
		}
		switch now := r.shown(name, name+"-fork"); {
		case slices.Equal(now, old):
			olds++
		case slices.Equal(now, redacted):
			news++
		default:
			t.Fatalf("round %d: the sessions are neither what they were nor redacted: %q", i, now)
		}
		r.intact("round", i)
		noLock()
		noLocks(t, r.path(".git"), "round", i)

		r.domarkx(command...)
		if now := r.shown(name, name+"-fork"); !slices.Equal(now, redacted) {
			t.Fatalf("round %d: after another redaction: %q", i, now)
		}
		if found := r.must(secret[4:], "sh", "-c", leftSecret); found != "" {
			t.Fatalf("round %d: the secret is left: %s", i, found)
		}
		r.intact("round", i)
	}
	r.sound("at the end")
	noLock()
	r.noScraps()
	t.Logf("%d kills, %d sessions were not redacted then, %d were", kills, olds, news)
}

// leftSecret is a script that prints where a text is, apart from what only the trash of redactions leads to.
const leftSecret = `secret=$(cat)
git for-each-ref --format='%(objectname)' refs/domarkx-trash/redacted/ | git rev-list --objects --no-object-names --stdin | sort -u >../kept
git cat-file --batch-all-objects --batch-check='%(objectname)' | sort >../all
{ git for-each-ref --format='%(objectname) %(refname)' | grep -v ' refs/domarkx-trash/redacted/' | cut -d' ' -f1
  find .git/logs -type f ! -path '*/refs/domarkx-trash/redacted/*' -exec cat {} + | cut -d' ' -f1,2 | tr ' ' '\n' | grep -v '^0*$' | sort -u
} | git rev-list --objects --no-object-names --stdin >../live
{ comm -23 ../all ../kept; cat ../live; } | git cat-file --batch | grep -aF "$secret" || true
grep -raliF "$secret" .git --exclude-dir=objects || true`
