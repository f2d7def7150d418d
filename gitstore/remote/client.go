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

	// Receive is called for each verified reference, by full shared name, before it is recorded. It returns
	// true if it has recorded another commit instead. An error rejects the reference. Nil records all as they are.
	Receive func(ctx context.Context, ref refdb.Ref) (bool, error)

	// There returns the commit that the remote has where a tracking reference was redacted and has the commit id;
	// otherwise id. Nil means that none was.
	There func(tracking, id string) string

	// Progress receives git's progress and the remote's messages, which may have control
	// characters. Nil discards them.
	Progress io.Writer
}

// there returns the commit that the remote has for a recorded one.
func (c *Client) there(tracking, id string) string {
	if c.There == nil || id == "" {
		return id
	}
	return c.There(tracking, id)
}

// progress returns git's option that shows or hides progress.
func (c *Client) progress() string {
	if c.Progress != nil {
		return "--progress"
	}
	return "--no-progress"
}
