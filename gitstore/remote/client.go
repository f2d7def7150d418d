package remote

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Client fetches and pushes for one repository.
type Client struct {
	Git   *gitcmd.Git // required
	Refs  *refdb.Refs // required; its lock must not be held when a method is called
	Kinds []string    // required: the directories of refs/domarkx/ that are shared, like "sessions"

	// Accept returns an error when this program cannot store a shared reference, given by
	// its full name, like refs/domarkx/sessions/NAME. Nil accepts all.
	Accept func(ref string) error

	// Along reports whether to fetch also a reference that was not requested. It is called
	// once the objects of the requested ones are stored. Nil fetches none.
	Along func(ref refdb.Ref) bool

	// Verify returns the errors of fetched references, by full shared name. Those
	// references are not stored. Nil stores all.
	Verify func(ctx context.Context, refs []refdb.Ref) (map[string]error, error)

	// Progress receives git's progress and the remote's messages, which may have control
	// characters. Nil discards them.
	Progress io.Writer
}

// progress returns git's option that shows or hides progress.
func (c *Client) progress() string {
	if c.Progress != nil {
		return "--progress"
	}
	return "--no-progress"
}
