package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestScanOnTerminal checks that a terminal shows each secret once, with its name and its first places, and all with --all.
func TestScanOnTerminal(t *testing.T) {
	p := newPlace(t)
	t.Setenv("TERM", "dumb")
	t.Setenv("GIT_PAGER", "sed s/^/PAGED:/")
	const token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "## user\n\n%s\n\nGITHUB_TOKEN=%s in %d\n\n", strings.Repeat("Hello ", 40), token, i)
	}
	p.write("talk.md", text.String()+"## user\n\nDB_PASSWORD=tr0ub4dor3x9\n")
	p.run(0, "-q", "import", "talk.md")
	status, shown := p.on(nil, "scan")
	want := regexp.MustCompile(`(?m)^SECRET +RULE +PLACES +FINGERPRINT
GITHUB_TOKEN=ghp_\*\*\*\* +github-pat +30 +[0-9a-f]{20}
    talk#0: text
    talk#1: text
    talk#2: text
    and 27 other places
DB_PASSWORD=\*\*\*\* +password-assignment +1 +[0-9a-f]{20}
    talk#30: text$`)
	if status != 1 || !want.MatchString(shown) || strings.Contains(shown, "PAGED") {
		t.Errorf("status %d\n%s", status, shown)
	}
	if status, shown := p.on(nil, "scan", "--all"); status != 1 || strings.Count(shown, "PAGED:    talk#") != 31 {
		t.Errorf("--all: status %d\n%s", status, shown)
	}
	if status, shown := p.on(nil, "scan", "--json"); status != 1 || strings.Count(shown, `"key": "GITHUB_TOKEN"`) != 30 {
		t.Errorf("--json: status %d\n%s", status, shown)
	}
}
