package scan_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/gitstore/derived"
)

// remembered returns the path of the cache.
func (d *desk) remembered() string { return derived.Scans.Path(d.Env.StateDir, "") }

// TestRememberedHoldsNoSecret reads the file of the cache: it holds the mask and the fingerprint
// of a secret only, and nobody else can read it.
func TestRememberedHoldsNoSecret(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "Use "+github+".")
	d.Committed("s", enginetest.WorkTree, map[string]string{"a": gitlab}, domarkx.VersionCommit{Operation: "call"})
	masked := d.found("s")[0]
	file := d.remembered()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{github, gitlab} {
		if strings.Contains(string(data), secret[:len(secret)/2]) || strings.Contains(string(data), secret[len(secret)/2:]) {
			t.Errorf("%s holds half of %s", file, secret)
		}
	}
	if !strings.Contains(string(data), masked.Fingerprint) {
		t.Errorf("%s does not hold the fingerprint", file)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%s: others can read it: %v, %v", file, info.Mode(), err)
	}
}

// TestDamagedCache damages the file of the cache, as a kill or a full disk can. The findings stay
// the same.
func TestDamagedCache(t *testing.T) {
	d := newDesk(t)
	d.Appended("s", "Use "+github+".")
	d.Committed("s", enginetest.WorkTree, map[string]string{"a": gitlab, "b": "clean"}, domarkx.VersionCommit{Operation: "call"})
	want := fmt.Sprint(d.scan("s"))
	whole, err := os.ReadFile(d.remembered())
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(whole), "\n")
	for name, damaged := range map[string]string{
		"empty":            "",
		"half":             string(whole[:len(whole)/2]),
		"all but a byte":   string(whole[:len(whole)-1]),
		"another version":  "domarkx scan-cache 0" + string(whole[len(head):]),
		"garbage":          strings.Repeat("\x00\xff", 999),
		"without sessions": "",
	} {
		t.Run(name, func(t *testing.T) {
			d.T = t
			if err := os.WriteFile(d.remembered(), []byte(damaged), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "without sessions" {
				if err := derived.Scans.Write(d.Env.StateDir, []byte("null")); err != nil {
					t.Fatal(err)
				}
			}
			for _, when := range []string{"damaged", "then"} {
				if got := fmt.Sprint(d.scan("s")); got != want {
					t.Errorf("%s: found %s, want %s", when, got, want)
				}
			}
		})
	}
	d.T = t
	if len(d.warnings) > 0 {
		t.Errorf("warnings: %q", d.warnings)
	}
}

// TestUnwritableCache scans where nothing can be remembered.
func TestUnwritableCache(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	d.Env.StateDir = t.TempDir()
	if err := os.Mkdir(d.remembered(), 0o700); err != nil { // a directory in the place of the file
		t.Fatal(err)
	}
	if found := d.found("s"); len(found) != 1 {
		t.Errorf("%+v", found)
	}
	if len(d.warnings) != 1 || !strings.Contains(d.warnings[0], "remember what was scanned") {
		t.Errorf("warnings %q", d.warnings)
	}
}

// TestOldRules checks that the findings of other rules do not count.
func TestOldRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "house-12345678")
	if found := d.found("s"); len(found) != 0 {
		t.Fatalf("%+v", found)
	}
	for n := range 3 {
		d.WriteFile(".gitleaks.toml", strings.Replace(ownRule, "house\"", fmt.Sprintf("house%d\"", n), 1))
		for range 2 {
			if found := d.found("s"); len(found) != 1 || found[0].Rule != fmt.Sprint("house", n) {
				t.Errorf("rules %d: %+v", n, found)
			}
		}
	}
}
