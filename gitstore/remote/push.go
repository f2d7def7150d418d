package remote

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Status is the outcome of pushing one reference.
type Status string

// The statuses.
const (
	Created  Status = "created"
	Updated  Status = "updated"
	Deleted  Status = "deleted"
	UpToDate Status = "up-to-date"
	Stale    Status = "stale"   // the remote has another commit than Push expected: fetch first
	Lost     Status = "lost"    // the remote could not change it, probably because somebody else just did: fetch first
	Refused  Status = "refused" // a hook, permission or setting of the remote refused it
	NotTried Status = "held"    // not changed, because the remote refused another reference of this push
	Unknown  Status = "unknown" // the connection ended before the remote reported the outcome: fetch first
)

// OK reports whether the remote now has the pushed value.
func (s Status) OK() bool {
	return s == Created || s == Updated || s == Deleted || s == UpToDate
}

// A Result is the result of pushing one reference.
type Result struct {
	Ref    string // shared name
	Status Status
	Reason string // message of the remote or of git, and of the remote's hooks, without control characters; "" on success
}

// maxArguments bounds the length of one command line, in bytes. Linux allows two million, including the environment
// (execve(2)).
const maxArguments = 500_000

// Push changes references of the remote, given by shared name, and sends the objects that the remote does not have. Each
// reference must have the commit Old there, which is usually that of the tracking reference; "" stands for none. It gets
// the commit New; "" deletes it. Push never overwrites a reference that has another value there, and reports it as
// [Stale]. Push changes all references or none, unless their names are too long for one command line, or what is to send is
// larger than c.Portion: then it does so for each part, and ends with the first part that the remote does not take. A repeat goes on there.
//
// Push returns a result for each change, in their order. It updates the tracking references of accepted changes. A
// refusal by the remote is a result and no error. An error means that git could not reach the remote or was interrupted:
// then all other references are [Unknown] or [NotTried].
func (c *Client) Push(ctx context.Context, to Remote, changes ...refdb.Change) ([]Result, error) {
	results := make([]Result, len(changes))
	place := make(map[string]int, len(changes))
	for i, change := range changes {
		results[i] = Result{Ref: change.Ref, Status: NotTried}
		place[change.Ref] = i
	}
	portions, err := c.portions(ctx, to, changes)
	if err != nil {
		return results, err
	}
	created := map[string]bool{} // by an earlier portion
	for _, portion := range portions {
		for len(portion) > 0 {
			n := fits(portion)
			some, err := c.pushSome(ctx, to, portion[:n])
			refused := false
			for i, result := range some {
				at := place[result.Ref]
				created[result.Ref] = created[result.Ref] || result.Status == Created
				switch ok := result.Status.OK(); {
				case !ok:
					results[at], refused = result, true
				case portion[i].New == changes[at].New:
					results[at] = result
					if created[result.Ref] {
						results[at].Status = Created
					}
				}
			}
			if err != nil || refused {
				return results, err
			}
			portion = portion[n:]
		}
	}
	return results, nil
}

// fits returns how many of the changes fit into one command line, at least one.
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
		args = append(args, "-c", "remote."+to.address+".mirror=false") // git push to a mirror accepts no refspecs
	}
	args = append(args, "-c", "push.followTags=false", "push", "--porcelain", c.progress(), "--recurse-submodules=no")
	if len(changes) > 1 {
		args = append(args, "--atomic")
	}
	specs := []string{"--", to.address}
	for _, change := range changes {
		args = append(args, "--force-with-lease="+change.Ref+":"+c.there(to.Tracking(change.Ref), change.Old))
		specs = append(specs, change.New+":"+change.Ref)
	}
	out, err := c.Git.Do(ctx, gitcmd.Command{Args: append(args, specs...), Stderr: c.Progress, Terminal: true})
	results, said := parsePush(out, changes)
	if err != nil && !said {
		// git failed before it changed any reference
		return results, fmt.Errorf("pushing to %q: %w", to, c.explain(to, err))
	}
	if text := hostText(err); text != "" {
		for i := range results {
			if results[i].Status == Refused {
				results[i].Reason += ": " + text
			}
		}
	}
	if noted := c.note(ctx, to, changes, results); noted != nil {
		return results, fmt.Errorf("noting what was pushed to %q: %w", to, noted)
	}
	for _, result := range results {
		if err != nil && result.Status == Unknown {
			return results, fmt.Errorf("pushing to %q: %w", to, err)
		}
	}
	return results, nil
}

// note sets the tracking references of accepted changes. It leaves those that no longer have the value Old, since a
// concurrent fetch has recorded a newer one. What a redaction has replaced here during the push, it reports as [Stale]: a
// reference would bring it back, and the remote has to get what is in its place.
func (c *Client) note(ctx context.Context, to Remote, changes []refdb.Change, results []Result) error {
	release, err := c.Refs.Lock(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	var replaced map[string]string
	if c.Replaced != nil {
		if replaced, err = c.Replaced(); err != nil {
			return err
		}
	}
	var moved []refdb.Change
	for i, change := range changes {
		if !results[i].Status.OK() || change.Old == change.New {
			continue
		}
		if replaced[change.New] != "" {
			results[i].Status = Stale
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
		return nil // a concurrent fetch has recorded a newer value
	}
	return err
}

// maxHostText is the maximum size of a host's text in a [Result], in bytes.
const maxHostText = 2000

// hostText returns the output of a host and its hooks during a push, in one line.
func hostText(err error) string {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) {
		return ""
	}
	var said []string
	for line := range strings.Lines(failed.Stderr) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "remote:"); ok && words(text) != "" {
			said = append(said, words(text))
		}
	}
	text := strings.Join(said, " ")
	if len(text) > maxHostText {
		text = strings.ToValidUTF8(text[:maxHostText], "") + "…"
	}
	return text
}

// words removes control characters from a remote's message, and replaces invalid UTF-8.
func words(text string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, "\uFFFD")))
}
