package refdb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// oid returns an object id of one digit.
func oid(digit string) string { return strings.Repeat(digit, 40) }

// logLine returns a line of a reflog.
func logLine(old, now, reason string) string {
	return oid(old) + " " + oid(now) + " Ada <ada@example.com> 1700000000 +0100\t" + reason + "\n"
}

// writeLog replaces the reflog of a reference.
func writeLog(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, ".git/logs", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestReflog(t *testing.T) {
	dir := gittest.Init(t)
	r, name := open(t, dir), session("s")
	one, two, three := logLine("0", "1", "create"), logLine("1", "2", "move"), logLine("2", "3", "move")
	for what, c := range map[string]struct {
		log     string
		values  string // the digits of the ids
		created bool
	}{
		"an empty file":              {"", "", false},
		"one line":                   {one, "1", true},
		"three lines":                {one + two + three, "321", true},
		"an expired beginning":       {two + three, "321", false},
		"back and forth":             {one + two + logLine("2", "1", "back") + three, "321", true},
		"removed and made again":     {one + logLine("1", "0", "remove") + logLine("0", "2", "create"), "21", true},
		"made again, expired before": {two + logLine("0", "3", "create"), "321", false},
		"removed":                    {one + logLine("1", "0", "remove"), "1", true},
		"a torn last line":           {one + two + three[:60], "21", true},
		"a torn line within":         {one + two[:60] + "\n" + three, "321", true},
		"junk":                       {"junk\n\x00\n", "", false},
		"ids in capitals":            {strings.ToUpper(logLine("a", "b", "x")), "", false},
		"a reason like a line":       {one + logLine("1", "2", oid("7")+" "+oid("8")+" Eve <> 1 +0000"), "21", true},
	} {
		writeLog(t, dir, name, c.log)
		values, created, err := r.Reflog(name)
		got := ""
		for _, v := range values {
			got += v[:1]
		}
		if got != c.values || created != c.created || err != nil {
			t.Errorf("%s: %q, created %v, %v", what, got, created, err)
		}
	}
	for what, at := range map[string]string{"no reflog": session("none"), "a directory": strings.TrimSuffix(name, "/s"), "a file above": name + "/below"} {
		values, created, err := r.Reflog(at)
		if len(values) > 0 || created || err != nil {
			t.Errorf("%s: %q, %v, %v", what, values, created, err)
		}
	}
	for _, odd := range []string{"", "HEAD", "refs/../config", "refs/x\n", "refs/heads/a.lock"} {
		_, _, err := r.Reflog(odd)
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v", odd, err)
		}
	}
}

// TestLongReflog checks that the latest values of a reflog are found that is longer than the part that is read.
func TestLongReflog(t *testing.T) {
	dir := gittest.Init(t)
	r, name := open(t, dir), session("s")
	var log strings.Builder
	id := func(n int) string { return fmt.Sprintf("%040x", n+1) }
	const lines = 40_000
	for n := range lines {
		fmt.Fprintf(&log, "%s %s Ada <ada@example.com> %d +0000\tmove\n", id(n-1), id(n), 1_700_000_000+n)
	}
	writeLog(t, dir, name, log.String())
	values, created, err := r.Reflog(name)
	if err != nil || created || len(values) < 20_000 || len(values) > lines || values[0] != id(lines-1) || values[1000] != id(lines-1001) {
		t.Errorf("%d values, created %v, %v", len(values), created, err)
	}
}

func TestForget(t *testing.T) {
	dir := gittest.Init(t)
	r, name := open(t, dir), session("s")
	if err := r.Forget(name); err == nil || !strings.Contains(err.Error(), "lock is not held") {
		t.Errorf("without the lock: %v", err)
	}
	if err := r.ForgetValues(func(string) bool { return true }, "refs/domarkx/"); err == nil || !strings.Contains(err.Error(), "lock is not held") {
		t.Errorf("values without the lock: %v", err)
	}
	release, err := r.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	for log, want := range map[string]string{
		logLine("0", "1", "create") + logLine("1", "2", "move"): logLine("0", "2", "move"),
		logLine("1", "2", "only"):                               logLine("0", "2", "only"),
		"":                                                      "", "junk\n": "", logLine("1", "2", "x") + "torn": "",
	} {
		writeLog(t, dir, name, log)
		if err := r.Forget(name, session("none")); err != nil {
			t.Errorf("%q: %v", log, err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, ".git/logs", name)); string(got) != want || err != nil {
			t.Errorf("%q became %q, expected %q, %v", log, got, want, err)
		}
	}
	if err := r.Forget("../x"); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("an odd name: %v", err)
	}
}

// TestDamagedRefs checks which references are listed and which are reported.
func TestDamagedRefs(t *testing.T) {
	dir := gittest.Init(t)
	ids := gittest.Commits(t, dir, 2)
	gittest.Run(t, dir, "update-ref", session("packed"), ids[0])
	gittest.Run(t, dir, "update-ref", session("hidden"), ids[0])
	gittest.Run(t, dir, "pack-refs", "--all")
	gittest.Run(t, dir, "update-ref", session("loose"), ids[1])
	gittest.Run(t, dir, "symbolic-ref", session("symbolic"), session("loose"))
	for name, text := range map[string]string{"hidden": "", "empty": "", "torn": ids[0][:20], "junk": "junk\n", "long": strings.Repeat("x", 1<<16), "lost.lock": ids[0] + "\n"} {
		path := filepath.Join(dir, ".git", session(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, dir)
	prefix := strings.TrimSuffix(session("x"), "x")
	refs, err := r.List(prefix)
	if want := []refdb.Ref{{Name: session("loose"), ID: ids[1]}, {Name: session("packed"), ID: ids[0]}}; err != nil || fmt.Sprint(refs) != fmt.Sprint(want) {
		t.Errorf("%v, %v, expected %v", refs, err, want)
	}
	damaged, err := r.Damaged(prefix)
	var text strings.Builder
	for _, d := range damaged {
		if !errors.Is(d, domarkx.ErrCorrupt) && !errors.Is(d, domarkx.ErrUnsupported) {
			t.Errorf("%v", d)
		}
		text.WriteString(d.Error() + "\n")
	}
	for _, name := range []string{"hidden", "empty", "torn", "junk", "long", "symbolic"} {
		if !strings.Contains(text.String(), session(name)) {
			t.Errorf("%s is not reported: %s", name, text.String())
		}
	}
	if len(damaged) != 6 || err != nil {
		t.Errorf("%d are reported: %v", len(damaged), err)
	}
	for _, odd := range []string{"", "refs", "a/../", "refs/ x/"} {
		if _, err := r.List(odd); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("below %q: %v", odd, err)
		}
	}
}
