package transfer

import (
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
)

// hostRules are what hosts and git say when a push or fetch, or one of its references, is refused, in lower case, and what one
// can do. The first that fits counts.
var hostRules = []struct{ says, advice string }{
	{"hidden ref", "the host takes no references outside refs/heads and refs/tags: push to another remote"},
	{"prohibited", "the host takes no references outside refs/heads and refs/tags: push to another remote"},
	{"quota", noSpace},
	{"exceeded its size limit", noSpace},  // GitLab
	{"over its size limit", noSpace},      // Bitbucket
	{"file size limit", tooLarge},         // GitHub
	{"blobs which exceed", tooLarge},      // GitLab
	{"larger than the allowed", tooLarge}, // GitLab
	{"pack exceeds", "the host limits how much one push sends: push in smaller portions (git config domarkx.limit.push 100m)"},
	{"protected", "the host protects this reference: ask its owner to allow pushes to refs/domarkx, or push to another remote"},
	{"rule violations", "the host protects this reference: ask its owner to allow pushes to refs/domarkx, or push to another remote"}, // GitHub
	{"publickey", "the host accepts none of your SSH keys: add one there, or load it (ssh-add)"},
	{"host key verification", "ssh does not know the host: connect once with ssh, and compare its key"},
	{"could not read username", noPassword},
	{"could not read password", noPassword},
	{"authentication failed", noPassword},
	{"returned error: 401", noPassword},
	{"returned error: 403", noRight},
	{"archived", noRight},
	{"read-only", noRight},
	{"permission", noRight},
	{"not allowed", noRight},
	{"denied", noRight},
	{"unpack", "the host did not take the objects, perhaps because of a limit of size: ask its owner, or push to another remote"},
	{"declined", "a rule of the host refused it: ask its owner, or push to another remote"},
}

const (
	noSpace    = "the host has no space left for this repository: ask its owner for more, or push to another remote"
	tooLarge   = "the host limits the size of files: ask its owner for a higher limit, or push to another remote"
	noPassword = "git has no user name and password that the host accepts: set up a credential helper (git help credentials)"
	noRight    = "this account may not write there: ask the owner of the repository for the right to push, or push to another remote"
)

// advice returns what to do about a refusal, with a semicolon before it, or "".
func advice(reason string) string {
	reason = strings.ToLower(reason)
	for _, rule := range hostRules {
		if strings.Contains(reason, rule.says) {
			return "; " + rule.advice
		}
	}
	return ""
}

// explained adds what to do to an error of git with a remote, if that is known.
func explained(err error) error {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) {
		return err
	}
	advice := advice(failed.Stderr)
	if strings.Contains(err.Error(), "\n") { // git says several lines
		advice = strings.Replace(advice, "; ", "\n", 1)
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w%s", err, advice)
}
