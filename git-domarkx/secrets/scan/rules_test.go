package scan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

const ownRule = "[[rules]]\nid = \"house\"\nregex = '''house-[0-9]{8}'''\nkeywords = [\"house-\"]\n"

// TestRepositoryRules checks which files of a work tree change the findings. Anybody can commit them, so they may
// add rules; what says that a secret is none counts only where the user's own configuration allows it.
func TestRepositoryRules(t *testing.T) {
	fingerprint := func(d *desk) string { return d.found("s")[0].Fingerprint }
	tests := []struct {
		name     string
		rules    string
		ignore   func(d *desk) string
		want     int  // of the three secrets
		allowed  int  // the same, with domarkx.scan.repositoryRules
		warnings bool // with the consent
	}{
		{name: "none", want: 2, allowed: 2},
		{name: "a rule", rules: ownRule, want: 3, allowed: 3},
		{name: "a rule for the same secret", rules: strings.Replace(ownRule, "house-[0-9]{8}", "gh"+"p_[0-9A-Za-z]+", 1), want: 2, allowed: 2},
		{name: "not TOML", rules: "[[rules", want: 2, allowed: 2, warnings: true},
		{name: "not a regular expression", rules: "[[rules]]\nid = \"x\"\nregex = '''('''\n", want: 2, allowed: 2, warnings: true},
		{name: "too large", rules: strings.Repeat("#", secrets.MaxRules+1), want: 2, allowed: 2, warnings: true},
		{name: "a directory", rules: "directory", want: 2, allowed: 2, warnings: true},
		{name: "a link", rules: "link", want: 2, allowed: 2, warnings: true},
		{name: "an allowlist", rules: "[allowlist]\nregexes = ['''.+''']\n", want: 2, allowed: 0},
		{name: "an allowlist of paths", rules: "[allowlist]\npaths = ['''\\.env$''']\n", want: 2, allowed: 2},
		{name: "a fingerprint", ignore: fingerprint, want: 2, allowed: 1},
		{name: "a file, a rule and a line", ignore: func(*desk) string { return "# why\n\ndir/.env:github-pat:2\n" }, want: 2, allowed: 1},
		{name: "the same with a commit", ignore: func(*desk) string { return strings.Repeat("0", 40) + ":dir/.env:github-pat:2" }, want: 2, allowed: 1},
		{name: "the same with the resource", ignore: func(*desk) string { return "files/dir/.env:github-pat:2" }, want: 2, allowed: 1},
		{name: "another line", ignore: func(*desk) string { return "dir/.env:github-pat:3" }, want: 2, allowed: 2},
		{name: "another rule", ignore: func(*desk) string { return "dir/.env:gitlab-pat:2" }, want: 2, allowed: 2},
		{name: "a list that is too large", ignore: func(*desk) string { return strings.Repeat("#", 1<<20+1) }, want: 2, allowed: 2, warnings: true},
	}
	d := newDesk(t)
	d.Appended("s", "Use "+gitlab+" and house-12345678.")
	d.Committed("s", enginetest.WorkTree, map[string]string{"dir/.env": "x\nTOKEN=" + github + "\n"}, domarkx.VersionCommit{Operation: "call"})
	d.scan("s") // which reads the configuration
	consenting := reopened(d, "true")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.T, d.warnings, consenting.T, consenting.warnings = t, nil, t, nil
			rules, ignore := filepath.Join(d.Dir, ".gitleaks.toml"), filepath.Join(d.Dir, ".gitleaksignore")
			defer os.RemoveAll(rules)
			defer os.RemoveAll(ignore)
			if tt.ignore != nil {
				d.WriteFile(".gitleaksignore", tt.ignore(d))
			}
			switch tt.rules {
			case "":
			case "directory":
				if err := os.Mkdir(rules, 0o755); err != nil {
					t.Fatal(err)
				}
			case "link":
				if err := os.Symlink(d.WriteFile("rules", ownRule), rules); err != nil {
					t.Fatal(err)
				}
			default:
				d.WriteFile(".gitleaks.toml", tt.rules)
			}
			if got := d.scan("s"); len(got) != tt.want {
				t.Errorf("found %q, want %d", got, tt.want)
			}
			if got := consenting.scan("s"); len(got) != tt.allowed {
				t.Errorf("with the user's consent: found %q, want %d", got, tt.allowed)
			}
			if (len(consenting.warnings) > 0) != tt.warnings {
				t.Errorf("warnings: %q", consenting.warnings)
			}
		})
	}
	d.T = t
	broken := reopened(d, "perhaps")
	if _, err := scan.New(broken.Store, broken.Env).Session(t.Context(), transfer.Outgoing{Session: "s", Tips: d.tips("s")}, nil); err == nil || !strings.Contains(err.Error(), "repositoryrules") {
		t.Errorf("an invalid configuration: %v", err)
	}
}

// reopened returns the repository as another process sees it after the user set whether its allowlists count.
func reopened(d *desk, allow string) *desk {
	d.T.Helper()
	if out, err := exec.Command("git", "-C", d.Dir, "config", "domarkx.scan.repositoryRules", allow).CombinedOutput(); err != nil {
		d.T.Fatalf("git config: %v\n%s", err, out)
	}
	other := &desk{Clone: enginetest.Open(d.T, d.Dir, d.Settings)}
	other.Env.Warn = func(err error) { other.warnings = append(other.warnings, err.Error()) }
	return other
}

// TestBareRepository scans without a work tree, and so without rules of one.
func TestBareRepository(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Appended("s", github)
	d.WriteFile(".gitleaks.toml", "[[rules")
	d.Env.WorkTree = ""
	if found := d.found("s"); len(found) != 1 || d.warnings != nil {
		t.Errorf("%+v, %q", found, d.warnings)
	}
}
