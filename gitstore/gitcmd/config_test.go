package gitcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestConfig(t *testing.T) {
	dir := gittest.Init(t)
	write(t, filepath.Join(dir, ".git", "config"), `[core]
	repositoryformatversion = 0
	bare = false
[domarkx]
	flag
	yes = YeS
	off = oFF
	empty =
	number = 12
	kilo = 2k
	hex = 0x10
	octal = 010
	huge = 9223372036854775807k
	word = perhaps
	binary = 0b1
	lines = "a\nb = c"
	many = one
	many = two
	home = ~/x
[Remote "Upper.Case"]
	URL = somewhere
[remote "second"]
	url = x
`, 0o644)
	g := discover(t, dir, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=domarkx.many", "GIT_CONFIG_VALUE_0=three", "GIT_CONFIG_PARAMETERS='domarkx.given'='by -c'")
	c, err := g.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.GetAll("DOMARKX.Many"); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("GetAll = %q", got)
	}
	for key, want := range map[string]string{"domarkx.many": "three", "domarkx.given": "by -c", "domarkx.lines": "a\nb = c", "remote.Upper.Case.url": "somewhere"} {
		if got, ok := c.Get(key); got != want || !ok {
			t.Errorf("Get(%q) = %q, %v, want %q", key, got, ok, want)
		}
	}
	if _, ok := c.Get("remote.upper.case.url"); ok {
		t.Error("a subsection does not mind its case")
	}
	if got := c.Subsections("remote"); !slices.Equal(got, []string{"Upper.Case", "second"}) {
		t.Errorf("Subsections = %q", got)
	}
	for key, want := range map[string]bool{"domarkx.flag": true, "domarkx.yes": true, "domarkx.off": false, "domarkx.empty": false, "domarkx.number": true, "domarkx.missing": true} {
		if got, err := c.Bool(key, true); got != want || err != nil {
			t.Errorf("Bool(%q) = %v, %v, want %v", key, got, err, want)
		}
	}
	for key, want := range map[string]int64{"domarkx.number": 12, "domarkx.kilo": 2048, "domarkx.hex": 16, "domarkx.octal": 8, "domarkx.missing": -1} {
		if got, err := c.Int(key, -1); got != want || err != nil {
			t.Errorf("Int(%q) = %v, %v, want %v", key, got, err, want)
		}
		if key == "domarkx.missing" {
			continue
		}
		git := gittest.Run(t, dir, "config", "--int", key)
		if got, _ := c.Int(key, -1); time.Duration(got).Nanoseconds() != want || git == "" {
			t.Errorf("git reads %q as %s", key, git)
		}
	}
	for _, key := range []string{"domarkx.word", "domarkx.huge", "domarkx.binary", "domarkx.empty", "domarkx.flag"} {
		if _, err := c.Int(key, 0); !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("Int(%q): %v", key, err)
		}
	}
	if _, err := c.Bool("domarkx.word", false); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("Bool of a word: %v", err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Path("domarkx.home"); got != filepath.Join(home, "x") || err != nil {
		t.Errorf("Path = %q, %v", got, err)
	}
}

func TestExpiryDate(t *testing.T) {
	dir := gittest.Init(t)
	g := discover(t, dir)
	near := func(value string, want time.Time) {
		t.Helper()
		got, err := g.ExpiryDate(t.Context(), "gc.reflogExpireUnreachable", "30.days.ago")
		if d := got.Sub(want); err != nil || d < -2*time.Hour || d > 2*time.Hour {
			t.Errorf("%s: %v, %v, want %v", value, got, err, want)
		}
	}
	near("the default", time.Now().AddDate(0, 0, -30))
	gittest.Run(t, dir, "config", "gc.reflogExpireUnreachable", "2.weeks.ago")
	near("two weeks", time.Now().AddDate(0, 0, -14))
	gittest.Run(t, dir, "config", "gc.reflogExpireUnreachable", "never")
	near("never", time.Time{})
	gittest.Run(t, dir, "config", "gc.reflogExpireUnreachable", "now")
	near("now", time.Now())
	gittest.Run(t, dir, "config", "gc.reflogExpireUnreachable", "nonsense")
	if when, err := g.ExpiryDate(t.Context(), "gc.reflogExpireUnreachable", "never"); err == nil {
		t.Errorf("nonsense: %v", when)
	}
}
