package scan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// remembered returns the files of the cache.
func (d *desk) remembered() []string {
	d.T.Helper()
	list, err := filepath.Glob(filepath.Join(d.Env.StateDir, "scan", "*"))
	if err != nil {
		d.T.Fatal(err)
	}
	return list
}

// TestRememberedHoldsNoSecret reads the files of the cache: they hold the mask and the fingerprint
// of a secret only, and nobody else can read them.
func TestRememberedHoldsNoSecret(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "Use "+github+".")
	d.Committed("s", enginetest.WorkTree, map[string]string{"a": gitlab}, domarkx.VersionCommit{Operation: "call"})
	masked := d.found("s")[0]
	files := d.remembered()
	if len(files) != 2 {
		t.Fatalf("%q", files)
	}
	for _, file := range files {
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
}

// TestDamagedCache damages the files of the cache, as a kill or a full disk can. The findings stay
// the same.
func TestDamagedCache(t *testing.T) {
	d := newDesk(t)
	d.Appended("s", "Use "+github+".")
	d.Committed("s", enginetest.WorkTree, map[string]string{"a": gitlab, "b": "clean"}, domarkx.VersionCommit{Operation: "call"})
	want := fmt.Sprint(d.scan("s"))
	whole := map[string]string{}
	for _, file := range d.remembered() {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole[filepath.Ext(file)] = string(data)
	}
	damages := map[string]func(string) string{
		"empty":         func(string) string { return "" },
		"half":          func(s string) string { return s[:len(s)/2] },
		"all but a LF":  func(s string) string { return s[:len(s)-1] },
		"null":          func(string) string { return "null" },
		"another type":  func(string) string { return "[1]\n" },
		"garbage":       func(string) string { return strings.Repeat("\x00\xff", 999) },
		"a line before": func(s string) string { return "half a li\n" + s },
		"lines without JSON": func(s string) string {
			return strings.ReplaceAll(s, " [", " {")
		},
		"lines without hits": func(string) string { return strings.Repeat("a", 40) + " []\n" },
		"twice":              func(s string) string { return s + s },
	}
	for name, damage := range damages {
		for _, ends := range []string{".blobs", ".tips"} {
			t.Run(name+ends, func(t *testing.T) {
				d.T = t
				for _, file := range d.remembered() {
					content := whole[filepath.Ext(file)]
					if filepath.Ext(file) == ends {
						content = damage(content)
					} else if ends == ".blobs" {
						content = "" // so that blobs are looked up
					}
					if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
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
	}
	d.T = t
	if len(d.warnings) > 0 {
		t.Errorf("warnings: %q", d.warnings)
	}
}

// TestUnwritableCache scans where nothing can be remembered.
func TestUnwritableCache(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"scan", "scan/x.blobs", "scan/x.tips"} {
		d := newDesk(t)
		d.Appended("s", github)
		d.Env.StateDir = t.TempDir()
		place := filepath.Join(d.Env.StateDir, what)
		if name := filepath.Base(what); name != "scan" { // a directory in the place of the file
			d.found("s")
			place = filepath.Join(d.Env.StateDir, "scan", strings.TrimSuffix(filepath.Base(d.remembered()[0]), ".blobs")+filepath.Ext(name))
			if err := os.RemoveAll(filepath.Dir(place)); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(place, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(place, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if found := d.found("s"); len(found) != 1 {
			t.Errorf("%s: %+v", what, found)
		}
		if len(d.warnings) != 1 || !strings.Contains(d.warnings[0], "remember what was scanned") {
			t.Errorf("%s: warnings %q", what, d.warnings)
		}
	}
}

// TestOldRules checks that the cache of other rules does not count, and is removed when there are many.
func TestOldRules(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", "house-12345678")
	if found := d.found("s"); len(found) != 0 {
		t.Fatalf("%+v", found)
	}
	for n := range 5 {
		d.WriteFile(".gitleaks.toml", strings.Replace(ownRule, "house\"", fmt.Sprintf("house%d\"", n), 1))
		if found := d.found("s"); len(found) != 1 || found[0].Rule != fmt.Sprint("house", n) {
			t.Errorf("rules %d: %+v", n, found)
		}
		files := d.remembered()
		if most := 2 * min(n+2, 3); len(files) != most {
			t.Errorf("rules %d: %d files, want %d", n, len(files), most)
		}
		for i, file := range files { // in the order of their use
			if when := d.Now.Add(time.Duration(n*10+i) * time.Hour); filepath.Ext(file) == ".blobs" {
				if err := os.Chtimes(file, when, when); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
