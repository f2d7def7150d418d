package transfer

import (
	"errors"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// TestExplained checks that errors of git with a remote say what to do, and that other errors stay as they are.
func TestExplained(t *testing.T) {
	for said, want := range map[string]string{
		"fatal: unable to access 'https://example.org/x/': The requested URL returned error: 403":                       noRight,
		"fatal: Authentication failed for 'https://example.org/x/'":                                                     noPassword,
		"fatal: could not read Username for 'https://example.org': terminal prompts disabled":                           noPassword,
		"Host key verification failed.\nfatal: Could not read from remote repository.":                                  "compare its key",
		"git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.":                "SSH keys",
		"ERROR: Permission to a/b.git denied to ada.\nfatal: Could not read from remote repository.":                    noRight,
		"fatal: unable to access 'https://example.org/x/': Could not resolve host: example.org":                         "",
		"fatal: unable to access 'https://example.org/x403/': Failed to connect to example.org port 443 after 12403 ms": "",
	} {
		failed := &gitcmd.Error{Stderr: said}
		got := explained(failed)
		if !errors.Is(got, failed) || !strings.HasPrefix(got.Error(), failed.Error()) {
			t.Errorf("%v does not say that %v", got, failed)
		}
		if advice := strings.TrimPrefix(got.Error(), failed.Error()); want == "" && advice != "" || !strings.Contains(advice, want) {
			t.Errorf("%s: got the advice %q, expected %q", said, advice, want)
		}
	}
	other := errors.New("permission denied")
	if got := explained(other); got != other {
		t.Errorf("%v became %v", other, got)
	}
}
