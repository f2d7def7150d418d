package scan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// The secrets are put together here, so that no file has their text.
const (
	github = "gh" + "p_R7d0eW5tYu2gHj4KlMn6BvCx8ZaQ1oP3iUyT"
	gitlab = "gl" + "pat-R7d0eW5tYu2gHj4KlMn6"
)

// A desk is a repository that is scanned.
type desk struct {
	*enginetest.Clone
	warnings []string
}

func newDesk(t *testing.T) *desk {
	d := &desk{Clone: enginetest.New(t)}
	d.Env.Warn = func(err error) { d.warnings = append(d.warnings, err.Error()) }
	return d
}

// scan scans a session with a new manager, like another command, and returns "message where masked" of each finding.
func (d *desk) scan(name string) []string {
	d.T.Helper()
	return described(d.found(name))
}

func (d *desk) found(name string) []scan.Finding {
	d.T.Helper()
	found, err := scan.New(d.Store, d.Env).Session(d.T.Context(), transfer.Outgoing{Session: name, Tips: d.tips(name)}, nil)
	if err != nil {
		d.T.Fatal(err)
	}
	return found
}

func (d *desk) tips(name string) []string {
	d.T.Helper()
	tips := []string{d.Tip(name).ID}
	if v, err := d.Store.WorkspaceTip(d.T.Context(), name); err == nil {
		tips = append(tips, v.ID)
	}
	return tips
}

func described(found []scan.Finding) []string {
	list := []string{}
	for _, f := range found {
		list = append(list, fmt.Sprintf("%d %s %s", f.Message, f.Where, f.Masked))
	}
	return list
}

func check(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %q\nwant %q", what, got, want)
	}
}

func TestSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "Nothing here.")
	check(t, "a clean session", d.scan("s"))
	first := d.Appended("s", "Use "+github+".").ID
	found := d.found("s")
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	f := found[0]
	if f.Session != "s" || f.Message != 1 || f.Where != "text" || f.Commit != first || f.Workspace || f.Rule == "" || len(f.Fingerprint) != 20 || !strings.HasPrefix(github, strings.TrimRight(f.Masked, "….*")) {
		t.Errorf("%+v", f)
	}
	masked := f.Masked
	// The same secret again is at another place, and another one at the same.
	d.Appended("s", github+" and "+gitlab)
	found = d.found("s")
	if len(found) != 3 || found[0].Fingerprint != found[1].Fingerprint || found[1].Fingerprint == found[2].Fingerprint || found[1].Message != 2 || found[2].Message != 2 {
		t.Errorf("%+v", found)
	}
	// What was removed is still in the history.
	d.Saved("s", d.Tip("s").ID, "## user\n\nNothing here.\n")
	for _, f := range d.found("s") {
		if !strings.HasPrefix(f.Where, "text in snapshot ") {
			t.Errorf("removed: %+v", f)
		}
	}
	if strings.Contains(fmt.Sprint(d.found("s")), github) || len(masked) > 12 {
		t.Errorf("findings show the secret: %+v", d.found("s"))
	}
	d.Appended("log-"+gitlab, "Nothing here.")
	found = d.found("log-" + gitlab)
	if len(found) != 1 || found[0].Where != "name" || found[0].Message != -1 {
		t.Errorf("a name: %+v", found)
	}
}

// TestWorkspaces checks secrets in versions of workspaces: in files and names, of each version once.
func TestWorkspaces(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "Begin.")
	commit := domarkx.VersionCommit{Operation: "call"}
	v := d.Committed("s", enginetest.WorkTree, map[string]string{"a/b.txt": "x\ny\n" + github + "\n", "c.txt": "clean"}, commit)
	d.Committed("s", enginetest.WorkTree, map[string]string{"a/b.txt": "x\ny\n" + github + "\n", "c.txt": "clean, changed"}, commit)
	found := d.found("s")
	if len(found) != 1 || found[0].Where != fmt.Sprintf("files/a/b.txt in workspace version %.12s", v.ID) || !found[0].Workspace || found[0].Message != -1 {
		t.Fatalf("%+v", found)
	}
	d.Committed("s", enginetest.WorkTree, map[string]string{github: ""}, commit)
	if found = d.found("s"); len(found) != 2 || !strings.HasPrefix(found[0].Where+found[1].Where, "files/") {
		t.Errorf("a name: %+v", found)
	}
}

// TestIncludedFiles checks the paths of included files, which are escaped in snapshots.
func TestIncludedFiles(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"part.md", "sub/é ü.md", "100%.md", "世界.md"} {
		d := newDesk(t)
		d.WriteFile(path, github+"\n")
		d.ImportFile(d.WriteFile("s.md", "## user\n\n[include]("+path+")\n"))
		found := d.found("s")
		if !slices.ContainsFunc(found, func(f scan.Finding) bool { return f.Where == "included "+path }) {
			t.Errorf("%s: %+v", path, found)
		}
	}
}

// TestProgress checks that everything new is scanned, and nothing that was scanned before.
func TestProgress(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	last := func() (done, total int) {
		t.Helper()
		_, err := scan.New(d.Store, d.Env).Session(t.Context(), transfer.Outgoing{Session: "s", Tips: d.tips("s")}, func(n, all int) { done, total = max(done, n), all })
		if err != nil {
			t.Fatal(err)
		}
		return done, total
	}
	for k := range 5 {
		d.Appended("s", fmt.Sprint("message ", k))
	}
	all, total := last()
	if all == 0 || all != total {
		t.Errorf("%d of %d files", all, total)
	}
	if done, total := last(); done != 0 || total != 0 {
		t.Errorf("scanned again: %d of %d files", done, total)
	}
	d.Appended("s", "more")
	if done, total := last(); done == 0 || done != total || done >= all {
		t.Errorf("one message more: %d of %d files, %d before", done, total, all)
	}
}

// TestRewrittenHistory scans a session at an older tip: findings of snapshots that it lacks are gone.
func TestRewrittenHistory(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	clean := d.Appended("s", "Begin.")
	d.Appended("s", github)
	check(t, "with it", d.scan("s"), "1 text "+d.found("s")[0].Masked)
	found, err := scan.New(d.Store, d.Env).Session(t.Context(), transfer.Outgoing{Session: "s", Tips: []string{clean.ID}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, "before it", described(found))
}

func TestUnsent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	sent := d.Appended("s", github)
	d.Appended("s", gitlab)
	unsent := func(known ...string) []string {
		t.Helper()
		found, err := scan.New(d.Store, d.Env).Unsent(t.Context(), transfer.Outgoing{Session: "s", Tips: d.tips("s"), Known: known})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range found {
			list = append(list, fmt.Sprint(f.Message))
		}
		return list
	}
	check(t, "nothing was sent", unsent(), "0", "1")
	check(t, "the first one was sent", unsent(sent.ID), "1", "-1") // the description of the second snapshot has it too
	check(t, "all was sent", unsent(d.Tip("s").ID))
	fingerprint := d.found("s")[1].Fingerprint
	m := scan.New(d.Store, d.Env)
	if err := m.Allow(t.Context(), []string{fingerprint}, true); err != nil {
		t.Fatal(err)
	}
	check(t, "the second one is allowed", unsent(), "0")
	d.Appended(github, "Nothing.")
	found, err := m.Unsent(t.Context(), transfer.Outgoing{Session: github, Tips: d.tips(github)})
	if err != nil || len(found) != 1 || found[0].Where != "name" {
		t.Errorf("a name: %+v, %v", found, err)
	}
	d.Appended("plain", "Nothing.")
	out := transfer.Outgoing{Session: "plain", Workspaces: []string{"plain", github}, Tips: d.tips("plain")}
	for what, look := range map[string]func() ([]scan.Finding, error){
		"a push": func() ([]scan.Finding, error) { return m.Unsent(t.Context(), out) },
		"a scan": func() ([]scan.Finding, error) { return m.Session(t.Context(), out, nil) },
	} {
		if found, err := look(); err != nil || len(found) != 1 || found[0].Where != "name of a workspace" {
			t.Errorf("%s finds in the name of a workspace: %+v, %v", what, found, err)
		}
	}
}

func TestAllow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, m := t.Context(), scan.New(d.Store, d.Env)
	a, b := strings.Repeat("a", 20), strings.Repeat("b", 20)
	for _, bad := range []string{"", "a", a + "a", strings.Repeat("g", 20), strings.ToUpper(a), a[:19] + "\n"} {
		if err := m.Allow(ctx, []string{a, bad}, true); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	steps := []struct {
		fingerprints []string
		allow        bool
		want         []string
	}{
		{nil, true, nil},
		{[]string{a}, true, []string{a}},
		{[]string{b, a}, true, []string{b, a}}, // each once
		{[]string{a, a}, false, []string{b}},
		{[]string{a}, false, []string{b}},
		{[]string{b}, false, nil},
	}
	for i, step := range steps {
		if err := m.Allow(ctx, step.fingerprints, step.allow); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Allowed(ctx); err != nil || !slices.Equal(got, step.want) {
			t.Errorf("step %d: %q, %v; want %q", i, got, err, step.want)
		}
	}
	found := make([]scan.Finding, 2)
	found[0].Fingerprint, found[1].Fingerprint = a, b
	if err := m.Allow(ctx, []string{a}, true); err != nil {
		t.Fatal(err)
	}
	if left, err := m.Without(ctx, found); err != nil || len(left) != 1 || left[0].Fingerprint != b || found[0].Fingerprint != a {
		t.Errorf("left %+v of %+v, %v", left, found, err)
	}
}

// TestFingerprints checks that they are the same in each run on a machine, and different on another one, so that a
// published fingerprint does not say what the secret is.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	first := d.found("s")[0].Fingerprint
	if again := d.found("s")[0].Fingerprint; again != first {
		t.Errorf("%s, then %s", first, again)
	}
	other := &desk{Clone: enginetest.Open(t, d.Dir, &enginetest.Settings{Values: map[string][]string{}})}
	if elsewhere := other.found("s")[0].Fingerprint; elsewhere == first {
		t.Errorf("%s on two machines", first)
	}
}

// TestKeyOfProcesses lets processes create the key of fingerprints at the same time. All use the same one.
func TestKeyOfProcesses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	d.Env.Local = local.NewFile(d.Store.Git())
	tips := d.tips("s")
	found := make([][]scan.Finding, 8)
	var group sync.WaitGroup
	for i := range found {
		m := scan.New(d.Store, d.Env)
		group.Go(func() {
			var err error
			if found[i], err = m.Session(context.Background(), transfer.Outgoing{Session: "s", Tips: tips}, nil); err != nil || len(found[i]) != 1 {
				t.Errorf("%+v, %v", found[i], err)
			}
		})
	}
	group.Wait()
	for _, f := range found {
		if len(f) == 1 && f[0].Fingerprint != found[0][0].Fingerprint {
			t.Errorf("%s and %s", f[0].Fingerprint, found[0][0].Fingerprint)
		}
	}
}

// TestStateFails scans where the local state cannot be read, or only not written.
func TestStateFails(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	state := &failing{State: d.Settings, changing: errors.New("disk full")}
	d.Env.Local = state
	if found := d.found("s"); len(found) != 1 {
		t.Errorf("%+v", found)
	}
	if len(d.warnings) != 1 || !strings.Contains(d.warnings[0], "fingerprints are not those of other runs: disk full") {
		t.Errorf("warnings: %q", d.warnings)
	}
	state.reading = errors.New("damaged")
	m, tips := scan.New(d.Store, d.Env), d.tips("s")
	for what, err := range map[string]error{
		"Session":  second(m.Session(t.Context(), transfer.Outgoing{Session: "s", Tips: tips}, nil)),
		"Unsent":   second(m.Unsent(t.Context(), transfer.Outgoing{Session: "s", Tips: tips})),
		"Without":  second(m.Without(t.Context(), []scan.Finding{{}})),
		"Scanner":  second(m.Scanner(t.Context())),
		"Allowed":  second(m.Allowed(t.Context())),
		"allowing": m.Allow(t.Context(), []string{strings.Repeat("a", 20)}, true),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	m.Prepare(t.Context())() // it leaves the error to the scan
	state.reading = nil
	if found, err := m.Session(t.Context(), transfer.Outgoing{Session: "s", Tips: tips}, nil); err != nil || len(found) != 1 {
		t.Errorf("when the state can be read again: %+v, %v", found, err)
	}
}

func second[T any](_ T, err error) error { return err }

// failing is a state that cannot be read or changed.
type failing struct {
	local.State
	reading, changing error
}

func (f *failing) All(ctx context.Context, key string) ([]string, error) {
	if f.reading != nil {
		return nil, f.reading
	}
	return f.State.All(ctx, key)
}

func (f *failing) Change(context.Context, string, func([]string) []string) error { return f.changing }

func TestFresh(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	fresh := func(known ...string) (int, bool) {
		t.Helper()
		n, more, err := scan.New(d.Store, d.Env).Fresh(t.Context(), d.tips("s"), known)
		if err != nil {
			t.Fatal(err)
		}
		return n, more
	}
	first := d.Appended("s", github)
	if n, more := fresh(); n != 1 || more {
		t.Errorf("the first message: %d, %t", n, more)
	}
	second := d.Appended("s", github+" again, and "+gitlab+", and once more "+gitlab)
	if n, more := fresh(first.ID); n != 2 || more {
		t.Errorf("two different ones: %d, %t", n, more)
	}
	if n, _ := fresh(second.ID); n != 0 {
		t.Errorf("nothing new: %d", n)
	}
	if err := scan.New(d.Store, d.Env).Allow(t.Context(), []string{d.found("s")[0].Fingerprint}, true); err != nil {
		t.Fatal(err)
	}
	if n, _ := fresh(first.ID); n != 1 {
		t.Errorf("one is allowed: %d", n)
	}
	d.Committed("s", enginetest.WorkTree, map[string]string{"large": strings.Repeat("x\n", scan.QuickBytes/2) + github, "z": "small\n"}, domarkx.VersionCommit{Operation: "call"})
	if n, more := fresh(second.ID); n != 0 || !more {
		t.Errorf("a file beyond the limit: %d, %t", n, more)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	ctx, cancel := context.WithCancel(t.Context())
	m := scan.New(d.Store, d.Env)
	if _, err := m.Scanner(ctx); err != nil {
		t.Fatal(err)
	}
	tips := d.tips("s")
	cancel()
	if found, err := m.Session(ctx, transfer.Outgoing{Session: "s", Tips: tips}, nil); found != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Session: %v, %v", found, err)
	}
	if found, err := m.Unsent(ctx, transfer.Outgoing{Session: "s", Tips: tips}); found != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Unsent: %v, %v", found, err)
	}
	if n, _, err := m.Fresh(ctx, tips, nil); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("Fresh: %v, %v", n, err)
	}
	if found := d.found("s"); len(found) != 1 {
		t.Errorf("afterwards: %+v", found)
	}
}

// TestDamage removes each object in turn. A scan reports that, or finds the secret; it never says that nothing is there.
func TestDamage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "Begin.")
	d.Appended("s", github)
	tips := d.tips("s")
	for _, file := range d.Unpack() {
		away := filepath.Join(t.TempDir(), "object")
		if err := os.Rename(file, away); err != nil {
			t.Fatal(err)
		}
		store := enginetest.Open(t, d.Dir, d.Settings).Store
		env := d.Env
		env.StateDir = t.TempDir() // without a cache
		found, err := scan.New(store, env).Session(t.Context(), transfer.Outgoing{Session: "s", Tips: tips}, nil)
		if err == nil && len(found) != 1 {
			t.Errorf("without %s: %+v", filepath.Base(file), found)
		}
		if err := os.Rename(away, file); err != nil {
			t.Fatal(err)
		}
	}
}
