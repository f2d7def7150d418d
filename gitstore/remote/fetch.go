package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// maxRefs is the number of references of a remote that are looked at.
const maxRefs = 200_000

// Fetched says what a fetch has brought.
type Fetched struct {
	Refs    []refdb.Ref    // what the remote has, by the names of this repository (refs/domarkx/…), sorted
	Changes []refdb.Change // what is new since the last fetch, by the same names, sorted
	Ignored []error        // one for each reference of the remote that is left alone
}

// Fetch brings what a remote has into [Remote.Prefix], and removes there what the
// remote has no more. With refs (complete shared references) only those and ones
// whose names begin like them are looked at; one that the remote has not is no
// error. Nothing else changes in the repository, FETCH_HEAD included.
//
// When it fails or is interrupted, some references may have come and others not;
// the next fetch brings the rest.
func (c *Client) Fetch(ctx context.Context, from Remote, refs ...string) (Fetched, error) {
	before, err := c.Refs.List(from.Prefix())
	if err != nil {
		return Fetched{}, err
	}
	claim := refdb.Claim{Name: "fetch", Prefixes: []string{from.Prefix()}, Files: []string{"shallow.lock"}}
	err = c.Refs.Guard(ctx, claim, func(inherit []*os.File) error {
		var err error
		for range maxRobbed {
			_, err = c.Git.Do(ctx, gitcmd.Command{
				Args:     append(c.fetchOptions(), append([]string{"--", from.address}, c.refspecs(from, refs)...)...),
				Stderr:   c.Progress,
				Inherit:  inherit,
				Terminal: true,
			})
			if !robbed(err) {
				break
			}
		}
		return err
	})
	if err != nil {
		return Fetched{}, fmt.Errorf("fetching from %q: %w", from.Name, err)
	}
	after, err := c.Refs.List(from.Prefix())
	if err != nil {
		return Fetched{}, err
	}
	var fetched Fetched
	fetched.Refs, fetched.Ignored = c.accepted(from, after)
	was, _ := c.accepted(from, before)
	fetched.Changes = differences(was, fetched.Refs)
	return fetched, nil
}

// maxRobbed is how often a fetch begins again whose pack was removed.
const maxRobbed = 20

// robbed reports whether a git prune at the same time took the pack that a fetch was
// writing for one that somebody left, or an object of a session that is just being
// written, which is stored again. Git says so only in words.
func robbed(err error) bool {
	var failed *gitcmd.Error
	return errors.As(err, &failed) && (strings.Contains(failed.Stderr, "index-pack") || strings.Contains(failed.Stderr, "tmp_pack") ||
		strings.Contains(failed.Stderr, "bad object"))
}

func (c *Client) fetchOptions() []string {
	return []string{
		"-c", "fetch.fsckObjects=true", // the remote is not trusted
		"-c", "core.fsync=committed,loose-object,reference",
		"-c", "fetch.writeCommitGraph=false",
		"-c", "fetch.unpackLimit=1", // a pack is kept until the references stand; git prune takes loose objects
		"fetch", c.progress(),
		"--prune", "--no-prune-tags", "--no-tags", "--force",
		"--refmap=", // else configured refspecs would take what they match as well
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-filter", // all of a session, also in a partial clone
	}
}

func (c *Client) refspecs(from Remote, refs []string) []string {
	var specs []string
	if len(refs) == 0 {
		for _, kind := range c.Kinds {
			specs = append(specs, "+"+shared+kind+"/*:"+from.Prefix()+kind+"/*")
		}
	}
	for _, ref := range refs {
		// A pattern, as git takes it for an error when the remote has not a whole name.
		specs = append(specs, "+"+ref+"*:"+from.Tracking(ref)+"*")
	}
	return specs
}

// Seen lists what the remote had when it was last fetched from or pushed to, by
// the names of this repository (refs/domarkx/…), and what of it is ignored.
func (c *Client) Seen(in Remote) ([]refdb.Ref, []error, error) {
	refs, err := c.Refs.List(in.Prefix())
	if err != nil {
		return nil, nil, err
	}
	known, ignored := c.accepted(in, refs)
	return known, ignored, nil
}

// accepted takes the tracking references that this program can hold.
func (c *Client) accepted(from Remote, refs []refdb.Ref) (known []refdb.Ref, ignored []error) {
	if len(refs) > maxRefs {
		ignored = append(ignored, fmt.Errorf("the remote %q has %d sessions, of which only the first %d are looked at: %w", from.Name, len(refs), maxRefs, domarkx.ErrUnsupported))
		refs = refs[:maxRefs]
	}
	for _, ref := range refs {
		name := from.Shared(ref.Name)
		err := c.accept(name)
		if err != nil {
			ignored = append(ignored, fmt.Errorf("the remote %q has %q, which is ignored: %w", from.Name, name, err))
			continue
		}
		known = append(known, refdb.Ref{Name: name, ID: ref.ID})
	}
	slices.SortFunc(known, func(a, b refdb.Ref) int { return cmp.Compare(a.Name, b.Name) })
	return known, ignored
}

func (c *Client) accept(name string) error {
	kind, _, _ := strings.Cut(strings.TrimPrefix(name, shared), "/")
	if !slices.Contains(c.Kinds, kind) {
		return fmt.Errorf("references of the kind %q: %w", kind, domarkx.ErrUnsupported)
	}
	if c.Accept == nil {
		return nil
	}
	return c.Accept(name)
}

// differences compares two sorted lists.
func differences(before, after []refdb.Ref) []refdb.Change {
	var changes []refdb.Change
	for len(before) > 0 || len(after) > 0 {
		switch {
		case len(after) == 0 || len(before) > 0 && before[0].Name < after[0].Name:
			changes = append(changes, refdb.Change{Ref: before[0].Name, Old: before[0].ID})
			before = before[1:]
		case len(before) == 0 || after[0].Name < before[0].Name:
			changes = append(changes, refdb.Change{Ref: after[0].Name, New: after[0].ID})
			after = after[1:]
		default:
			if before[0].ID != after[0].ID {
				changes = append(changes, refdb.Change{Ref: after[0].Name, Old: before[0].ID, New: after[0].ID})
			}
			before, after = before[1:], after[1:]
		}
	}
	return changes
}
