package remote

import (
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// An OtherHashError reports a remote that names its objects by another hash function than this repository. Git exchanges no
// objects between the two. It matches [domarkx.ErrUnsupported].
type OtherHashError struct {
	Remote string
	Here   oid.Hash
}

// Error says what works instead.
func (e *OtherHashError) Error() string {
	return fmt.Sprintf("the remote %q names its objects by another hash function than this repository, which has %s, and Git exchanges nothing between them; "+
		"write sessions to files in one of them (git domarkx export) and read those in the other (git domarkx import)", e.Remote, e.Here)
}

// Is reports whether target is [domarkx.ErrUnsupported].
func (e *OtherHashError) Is(target error) bool { return target == domarkx.ErrUnsupported }

// differentHash is what versions of git say when they meet a repository with another hash function, before they send
// anything.
var differentHash = []string{"mismatched algorithms", "hash algorithm", "unexpected capabilities^{}"}

// explain returns an [OtherHashError] if that is why git failed, otherwise err.
func (c *Client) explain(at Remote, err error) error {
	var failed *gitcmd.Error
	if errors.As(err, &failed) {
		for _, text := range differentHash {
			if strings.Contains(failed.Stderr, text) {
				return &OtherHashError{at.String(), c.Git.Hash}
			}
		}
	}
	return err
}
