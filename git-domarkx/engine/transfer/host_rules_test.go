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

// TestAdvice checks what is said about a push that a known host refuses. The script push_host_rules pushes to some of them.
func TestAdvice(t *testing.T) {
	for said, want := range map[string]string{
		`error: File a/b.bin is 150.00 MB; this exceeds GitHub's file size limit of 100.00 MB error: GH001: Large files detected.`: tooLarge,
		`GitLab: You are attempting to check in one or more blobs which exceed the 100MiB limit:`:                                  tooLarge,
		`GitLab: File "a/b.bin" is larger than the allowed size of 100 MiB. Use Git LFS to manage this file.`:                      tooLarge,
		`GitLab: Your push has been rejected, because this repository has exceeded its size limit of 10 GiB by 2 MiB.`:             noSpace,
		`Forgejo: Quota exceeded`: noSpace,
		`error: GH006: Protected branch update failed for refs/domarkx/sessions/talk.`:    "the host protects this reference",
		`error: GH013: Repository rule violations found for refs/domarkx/sessions/talk.`:  "the host protects this reference",
		`GitLab: You are not allowed to push code to protected branches on this project.`: "the host protects this reference",
		`Gitea: Not allowed to push to protected branch talk`:                             "the host protects this reference",
		`GitLab: You are not allowed to push code to this project.`:                       noRight,
		`Gitea: User permission denied for writing.`:                                      noRight,
		`ERROR: This repository was archived so it is read-only.`:                         noRight,
	} {
		if got := advice("pre-receive hook declined: " + said); !strings.HasPrefix(got, "; "+want) {
			t.Errorf("%s: got the advice %q, expected %q", said, got, want)
		}
	}
}
