package remote

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Client fetches and pushes for one repository. Its functions get and return shared names (see the package comment),
// except where they say otherwise.
type Client struct {
	Git   *gitcmd.Git // required
	Refs  *refdb.Refs // required; its lock must not be held when a method is called
	Kinds []string    // required: the directories of refs/domarkx/ that are shared, such as "sessions"

	// Accept returns an error if this program cannot store a reference with that name. Nil accepts all.
	Accept func(ref string) error

	// Along reports whether to fetch a reference of the remote that was not requested. It is called when the objects of
	// the requested references are stored, and returns true only if the repository has all objects of ref. Nil fetches
	// none.
	Along func(ref refdb.Ref) bool

	// Verify checks fetched references and returns an error for each bad one, by name. A fetch does not record those.
	// Nil verifies nothing.
	Verify func(ctx context.Context, refs []refdb.Ref) (map[string]error, error)

	// Receive is called for each verified reference before its tracking reference changes. It reports whether it has
	// itself recorded a commit in its place; otherwise the fetch records ref. others are its changes of other tracking
	// references, which the fetch may change again. An error rejects the reference. Nil leaves all to the fetch.
	Receive func(ctx context.Context, ref refdb.Ref) (recorded bool, others []Move, err error)

	// There returns the commit that the remote has for a tracking reference (full name) with the commit id. That is
	// another one if redaction has replaced it here; otherwise it is id. Nil means that redaction has replaced none.
	There func(tracking, id string) string

	// Replaced returns the commits that redactions have replaced here, as keys. Nil means that there are none.
	Replaced func() (map[string]string, error)

	// Portion is how many bytes one push sends at most, unless a single commit has more. Zero means any number.
	Portion int64

	// Progress receives git's progress output and the remote's messages unchanged, including control characters. Nil
	// discards them.
	Progress io.Writer
}

// A Move is a change of a tracking reference (full name) from one commit to another.
type Move struct{ Ref, From, To string }

// there calls c.There unless it is nil or the reference does not exist.
func (c *Client) there(tracking, id string) string {
	if c.There == nil || id == "" {
		return id
	}
	return c.There(tracking, id)
}

// progress returns the option of git fetch and git push that shows or hides progress.
func (c *Client) progress() string {
	if c.Progress != nil {
		return "--progress"
	}
	return "--no-progress"
}
