package integration_test

import (
	"os"
	"strings"
	"testing"
)

// TestHosts exchanges sessions through the servers that .ci/test-hosts starts. DOMARKX_TEST_HOSTS lists them as NAME=URL. Each
// has an empty repository "open"; all but soft-serve have "refusing", to which nobody may push.
func TestHosts(t *testing.T) {
	hosts := os.Getenv("DOMARKX_TEST_HOSTS")
	if hosts == "" {
		t.Skip("make test-hosts starts the servers")
	}
	for host := range strings.FieldsSeq(hosts) {
		name, url, _ := strings.Cut(host, "=")
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.env = append(s.env, "GIT_SSL_CAINFO="+os.Getenv("GIT_SSL_CAINFO"), "GIT_SSH_COMMAND="+os.Getenv("GIT_SSH_COMMAND"),
				"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0="+os.Getenv("DOMARKX_TEST_CREDENTIALS"))
			path := func(repository string) string {
				if name == "daemon" || name == "https" {
					return url + "/" + repository + ".git"
				}
				return url + "/" + repository
			}
			exchange(s, path("open"))
			if name != "soft-serve" {
				refused(s, path("refusing"), name)
			}
		})
	}
}

// exchange lets two clones push, pull, merge and redact.
func exchange(s *site, url string) {
	s.tb.Helper()
	for _, name := range []string{"a", "b"} {
		s.git("init", "-q", "-b", "main", name)
		s.at(name).git("remote", "add", "origin", url)
	}
	a, b := s.at("a"), s.at("b")
	a.write("talk.md", "## user\n\nfrom the first, with a large file\n")
	a.write("large.bin", strings.Repeat("0123456789abcdef", 1<<20))
	a.domarkx("import", "--attach", "large.bin", "talk.md")
	a.domarkx("push", "origin", "--all")
	b.domarkx("pull", "origin")
	if got, want := b.domarkx("show", "talk"), a.domarkx("show", "talk"); got != want {
		s.tb.Errorf("the second clone shows %q, the first %q", got, want)
	}

	// Both sides add a message: the second push is refused, a pull merges.
	b.domarkx("append", "-m", "from the second", "talk")
	b.domarkx("push", "origin")
	a.domarkx("append", "-m", "from the first again", "talk")
	if o := a.try("", "git-domarkx", "push", "origin"); o.code != 1 || !strings.Contains(o.out, "run git domarkx pull") {
		s.tb.Errorf("a push over changes of others: %s", o)
	}
	a.domarkx("pull", "origin")
	a.domarkx("push", "origin")
	b.domarkx("pull", "origin")
	if got := b.domarkx("show", "talk"); !strings.Contains(got, "from the second") || !strings.Contains(got, "from the first again") {
		s.tb.Errorf("after the merge: %q", got)
	}
	if x, y := a.git("rev-parse", "refs/domarkx/sessions/talk"), b.git("rev-parse", "refs/domarkx/sessions/talk"); x != y {
		s.tb.Errorf("the clones are at %s and %s", x, y)
	}

	// A redaction reaches the other clone.
	const key = "ghp_" + "qrstuvwxyz0123456789ABCDEFGHIJ456789"
	a.domarkx("append", "-m", "the key is "+key, "talk")
	a.domarkx("push", "--allow-secrets", "origin")
	b.domarkx("pull", "origin")
	a.domarkx("redact", "talk")
	a.domarkx("push", "origin")
	b.domarkx("pull", "origin")
	if got := b.domarkx("show", "talk"); strings.Contains(got, key) || !strings.Contains(got, "from the second") {
		s.tb.Errorf("after the redaction: %q", got)
	}
	a.sound()
	b.sound()
}

// refused pushes where nobody may, and again elsewhere.
func refused(s *site, url, host string) {
	s.tb.Helper()
	r := s.at("a")
	says := "sessions are not welcome here"
	if host == "gitolite" {
		says = "DENIED by fallthru"
	}
	before := r.git("for-each-ref")
	o := r.try("", "git-domarkx", "push", url, "talk")
	if o.code == 0 || !strings.Contains(o.out+o.err, says) {
		s.tb.Errorf("expected a refusal that says %q: %s", says, o)
	}
	if got := r.git("ls-remote", url); got != "" {
		s.tb.Errorf("the host has %q", got)
	}
	if got := r.git("for-each-ref"); got != before {
		s.tb.Errorf("the refs changed from\n%s\nto\n%s", before, got)
	}
}
