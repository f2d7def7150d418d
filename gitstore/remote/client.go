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
	Kinds []string    // required: the folders of refs/domarkx/ that are shared, like "sessions"

	// Accept says whether this program can hold a shared reference (complete, like
	// refs/domarkx/sessions/NAME). Nil accepts all.
	Accept func(ref string) error

	// Along says whether a reference of the remote that was not asked for comes too. It
	// is called when the objects of the others are here. Nil takes none.
	Along func(ref refdb.Ref) bool

	// Verify returns what is wrong with fetched references (complete shared names), by
	// name: those are not taken in. Nil takes all.
	Verify func(ctx context.Context, refs []refdb.Ref) (map[string]error, error)

	// Progress gets git's progress and the remote's messages as they come; nil
	// shows none. They can hold control characters.
	Progress io.Writer
}

// progress is git's option for whether progress is shown.
func (c *Client) progress() string {
	if c.Progress != nil {
		return "--progress"
	}
	return "--no-progress"
}
