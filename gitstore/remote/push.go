package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Status says what came of pushing one reference.
type Status string

// The statuses.
const (
	Created  Status = "created"
	Updated  Status = "updated"
	Deleted  Status = "deleted"
	UpToDate Status = "up-to-date"
	Stale    Status = "stale"   // the remote has another value than was expected: fetch first
	Lost     Status = "lost"    // the remote could not move it, likely as somebody else did just then: fetch first
	Refused  Status = "refused" // the remote says no: a hook, a permission, a setting
	NotTried Status = "held"    // nothing was changed, as another reference of the same push was not taken
	Unknown  Status = "unknown" // the connection ended before the remote said what it did: fetch tells
)

// OK reports whether the remote now has what was pushed.
func (s Status) OK() bool {
	return s == Created || s == Updated || s == Deleted || s == UpToDate
}

// A Result is what came of pushing one reference.
type Result struct {
	Ref    string // refs/domarkx/…
	Status Status
	Reason string // in the remote's or git's words, for people; "" when all went well
}

// maxArguments bounds the length of one command line, in bytes; Linux takes two
// million, with the environment.
const maxArguments = 500_000

// Push moves references of the remote from what they were last seen at (Old) to
// New, whose objects go along. The names are those of this repository
// (refs/domarkx/…), Old "" means that the remote has none yet, New "" removes it
// there. A reference that somebody else has moved meanwhile is never overwritten,
// but comes back as [Stale]. Either all changes are made or none (of very many,
// all or none of some thousands each).
//
// The results have the order of the changes. A remote that refuses is no error of
// Push; an error means that git could not talk to it, or stopped halfway, and then
// the results say what is known. What the remote took is noted at once in
// [Remote.Prefix].
func (c *Client) Push(ctx context.Context, to Remote, changes ...refdb.Change) ([]Result, error) {
	results := make([]Result, 0, len(changes))
	var failed error
	for len(changes) > 0 {
		n := fits(changes)
		if failed != nil {
			for _, change := range changes[:n] {
				results = append(results, Result{Ref: change.Ref, Status: NotTried})
			}
		} else {
			var some []Result
			some, failed = c.pushSome(ctx, to, changes[:n])
			results = append(results, some...)
		}
		changes = changes[n:]
	}
	return results, failed
}

// fits is how many changes one command line holds.
func fits(changes []refdb.Change) int {
	size := 0
	for i, change := range changes {
		size += 2*len(change.Ref) + 150
		if size > maxArguments && i > 0 {
			return i
		}
	}
	return len(changes)
}

func (c *Client) pushSome(ctx context.Context, to Remote, changes []refdb.Change) ([]Result, error) {
	config, err := c.Git.Config(ctx)
	if err != nil {
		return nil, err
	}
	var args []string
	if mirror, err := config.Bool("remote."+to.address+".mirror", false); mirror || err != nil {
		args = append(args, "-c", "remote."+to.address+".mirror=false") // it takes no refspecs
	}
	args = append(args, "-c", "push.followTags=false", "push", "--porcelain", c.progress(), "--recurse-submodules=no")
	if len(changes) > 1 {
		args = append(args, "--atomic")
	}
	specs := []string{"--", to.address}
	for _, change := range changes {
		args = append(args, "--force-with-lease="+change.Ref+":"+change.Old)
		specs = append(specs, change.New+":"+change.Ref)
	}
	out, err := c.Git.Do(ctx, gitcmd.Command{Args: append(args, specs...), Stderr: c.Progress, Terminal: true})
	results, said := parsePush(out, changes)
	if err != nil && !said {
		// Without a word about any reference git has not come to pushing.
		return results, fmt.Errorf("pushing to %q: %w", to.Name, err)
	}
	if noted := c.note(ctx, to, changes, results); noted != nil {
		return results, fmt.Errorf("noting what was pushed to %q: %w", to.Name, noted)
	}
	for _, result := range results {
		if err != nil && result.Status == Unknown {
			return results, fmt.Errorf("pushing to %q: %w", to.Name, err)
		}
	}
	return results, nil
}

// note moves the tracking references of what the remote took, unless somebody has
// seen something newer there meanwhile.
func (c *Client) note(ctx context.Context, to Remote, changes []refdb.Change, results []Result) error {
	release, err := c.Refs.Lock(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer release()
	var moved []refdb.Change
	for i, change := range changes {
		if !results[i].Status.OK() || change.Old == change.New {
			continue
		}
		now, _, err := c.Refs.Read(to.Tracking(change.Ref))
		if err != nil {
			return err
		}
		if now == change.Old {
			moved = append(moved, refdb.Change{Ref: to.Tracking(change.Ref), Old: now, New: change.New})
		}
	}
	err = c.Refs.Update(context.WithoutCancel(ctx), "push", moved...)
	if errors.Is(err, domarkx.ErrConflict) {
		return nil // a fetch was quicker, and knows more
	}
	return err
}

// words makes a remote's words fit to be shown.
func words(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
