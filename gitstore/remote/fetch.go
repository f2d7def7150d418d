package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// maxRefs is the number of references of a remote that are processed.
const maxRefs = 200_000

// FetchResult is the result of a fetch.
type FetchResult struct {
	Refs    []refdb.Ref    // references of the remote, by their shared names (refs/domarkx/…), sorted
	Changes []refdb.Change // changes since the last fetch, by the same names, sorted
	Ignored []error        // an error for each reference of the remote that is ignored

	// Rejected are the errors of references whose objects could not be fetched or did not pass
	// [Client.Verify], by the same names. Refs contains their previous values.
	Rejected map[string]error
}

// A fetch is a running fetch.
type fetch struct {
	*Client
	from    Remote
	inherit []*os.File
	only    map[string]bool // the requested references; nil for all
	result  FetchResult
	failed  int // failed calls of git fetch
}

// Fetch stores the references of a remote below [Remote.Prefix], and removes those there that the
// remote no longer has. refs limits the fetch to some shared references, by full name; it is no
// error if the remote does not have one. Nothing else in the repository changes, not even
// FETCH_HEAD.
//
// If Fetch fails or is interrupted, some references may be stored already; the next fetch stores
// the rest.
func (c *Client) Fetch(ctx context.Context, from Remote, refs ...string) (FetchResult, error) {
	f := &fetch{Client: c, from: from, result: FetchResult{Rejected: map[string]error{}}}
	if len(refs) > 0 {
		f.only = make(map[string]bool, len(refs))
		for _, ref := range refs {
			f.only[ref] = true
		}
	}
	claim := refdb.Claim{Name: "fetch", Prefixes: []string{from.Prefix(), from.incoming()}, Files: []string{"shallow.lock"}}
	err := c.Refs.Guard(ctx, claim, func(inherit []*os.File) error {
		f.inherit = inherit
		return f.run(ctx)
	})
	if err != nil {
		return FetchResult{}, fmt.Errorf("fetching from %q: %w", from.Name, err)
	}
	return f.result, nil
}

func (f *fetch) run(ctx context.Context) error {
	before, err := f.Refs.List(f.from.Prefix())
	if err != nil {
		return err
	}
	was, left := f.accepted(f.from, before)
	if err := f.dropIncoming(ctx); err != nil { // left by an interrupted fetch
		return err
	}
	there, err := f.list(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]string, len(was))
	for _, ref := range was {
		known[ref.Name] = ref.ID
	}
	var wanted, others []refdb.Ref
	for _, ref := range there {
		switch {
		case ref.ID == f.there(f.from.Tracking(ref.Name), known[ref.Name]):
		case f.only == nil || f.only[ref.Name]:
			wanted = append(wanted, ref)
		default:
			others = append(others, ref)
		}
	}
	if err := f.bring(ctx, wanted); err != nil {
		return err
	}
	fetched, err := f.Refs.List(f.from.incoming())
	if err != nil {
		return err
	}
	for i, ref := range fetched {
		fetched[i].Name = shared + strings.TrimPrefix(ref.Name, f.from.incoming())
	}
	for _, ref := range others {
		if f.Along != nil && f.Along(ref) {
			fetched = append(fetched, ref)
		}
	}
	if f.Verify != nil && len(fetched) > 0 {
		bad, err := f.Verify(ctx, fetched)
		if err != nil {
			return err
		}
		maps.Copy(f.result.Rejected, bad)
	}
	if fetched, err = f.receive(ctx, fetched); err != nil {
		return err
	}
	if err := f.track(ctx, known, gone(was, there, f.only), fetched); err != nil {
		return err
	}
	after, err := f.Refs.List(f.from.Prefix())
	if err != nil {
		return err
	}
	f.result.Refs, _ = f.accepted(f.from, after)
	f.result.Ignored = append(f.result.Ignored, left...)
	f.result.Changes = differences(was, f.result.Refs)
	return nil
}

// receive returns the references that are to be recorded as they are.
func (f *fetch) receive(ctx context.Context, fetched []refdb.Ref) ([]refdb.Ref, error) {
	if f.Receive == nil {
		return fetched, nil
	}
	var rest []refdb.Ref
	for _, ref := range fetched {
		if f.result.Rejected[ref.Name] != nil {
			continue
		}
		recorded, err := f.Receive(ctx, ref)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			f.result.Rejected[ref.Name] = err
		case !recorded:
			rest = append(rest, ref)
		}
	}
	return rest, nil
}

// list returns the references of the remote that this program can store.
func (f *fetch) list(ctx context.Context) ([]refdb.Ref, error) {
	args := []string{"ls-remote", "--refs", "--", f.from.address}
	for _, kind := range f.Kinds {
		args = append(args, shared+kind+"/*")
	}
	out, err := f.Git.Do(ctx, gitcmd.Command{Args: args, Terminal: true})
	if err != nil {
		return nil, err
	}
	var refs []refdb.Ref
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && strings.HasPrefix(name, shared) { // the pattern also matches names that only end like a shared one
			refs = append(refs, refdb.Ref{Name: f.from.Tracking(name), ID: id})
		}
	}
	refs, f.result.Ignored = f.accepted(f.from, refs)
	return refs, nil
}

// gone returns the references that the remote no longer has.
func gone(was, there []refdb.Ref, only map[string]bool) []refdb.Ref {
	has := make(map[string]bool, len(there))
	for _, ref := range there {
		has[ref.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(was), func(ref refdb.Ref) bool { return has[ref.Name] || only != nil && !only[ref.Name] })
}

// maxFailed is the number of calls of git fetch that may fail before the remaining references
// are given up.
const maxFailed = 200

// bring fetches references and their objects. If that fails while the remote answers, it finds
// out which references are the cause.
func (f *fetch) bring(ctx context.Context, refs []refdb.Ref) error {
	if len(refs) == 0 {
		return nil
	}
	err := f.call(ctx, refs)
	var failed *gitcmd.Error
	if err == nil || ctx.Err() != nil || !errors.As(err, &failed) || failed.Code < 0 {
		return err
	}
	f.failed++
	there, listErr := f.list(ctx)
	if listErr != nil {
		return err
	}
	still := slices.DeleteFunc(slices.Clone(refs), func(ref refdb.Ref) bool {
		_, found := slices.BinarySearchFunc(there, ref, func(a, b refdb.Ref) int { return cmp.Compare(a.Name, b.Name) })
		return !found
	})
	switch {
	case len(still) < len(refs) && f.failed < maxFailed:
		return f.bring(ctx, still)
	case len(refs) == 1 || f.failed >= maxFailed:
		for _, ref := range still {
			f.result.Rejected[ref.Name] = err
		}
		return nil
	}
	if err := f.bring(ctx, refs[:len(refs)/2]); err != nil {
		return err
	}
	return f.bring(ctx, refs[len(refs)/2:])
}

// maxRobbed is how often a fetch is repeated because its pack was removed.
const maxRobbed = 20

// robbed reports whether a concurrent git prune removed the pack that a fetch was writing, or an
// object of a session that is being written, which will be stored again. Git reports that only as
// text.
func robbed(err error) bool {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) || strings.Contains(failed.Stderr, "fsck error") {
		return false // index-pack prints it too
	}
	return strings.Contains(failed.Stderr, "index-pack") || strings.Contains(failed.Stderr, "tmp_pack") || strings.Contains(failed.Stderr, "bad object")
}

// call runs git fetch.
func (f *fetch) call(ctx context.Context, refs []refdb.Ref) (err error) {
	var specs strings.Builder
	for _, ref := range refs {
		specs.WriteString("+" + ref.Name + ":" + f.from.incoming() + strings.TrimPrefix(ref.Name, shared) + "\n")
	}
	for range maxRobbed {
		_, err = f.Git.Do(ctx, gitcmd.Command{
			Args:     append(f.fetchOptions(), "--stdin", "--", f.from.address),
			Stdin:    strings.NewReader(specs.String()),
			Stderr:   f.Progress,
			Inherit:  f.inherit,
			Terminal: true,
		})
		if !robbed(err) {
			break
		}
	}
	return err
}

func (c *Client) fetchOptions() []string {
	return []string{
		"-c", "fetch.fsckObjects=true", // the remote is not trusted
		"-c", "core.fsync=objects,-reference",
		"-c", "fetch.writeCommitGraph=false",
		"-c", "fetch.unpackLimit=1", // git prune removes loose objects, but not a pack with a .keep file
		"fetch", c.progress(),
		"--no-prune", "--no-prune-tags", "--no-tags", "--force",
		"--refmap=", // otherwise the configured refspecs are applied too
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-filter", // fetch complete sessions, also into a partial clone
	}
}

// track moves the tracking references from their known values to the fetched ones, removes
// those that are gone, and removes the incoming references. Rejected references stay.
func (f *fetch) track(ctx context.Context, known map[string]string, gone, fetched []refdb.Ref) error {
	release, err := f.Refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	var removed, moved []refdb.Change
	change := func(list *[]refdb.Change, ref refdb.Ref) error {
		now, _, err := f.Refs.Read(f.from.Tracking(ref.Name))
		// a concurrent push may have recorded something newer
		if err == nil && now == known[ref.Name] && now != ref.ID {
			*list = append(*list, refdb.Change{Ref: f.from.Tracking(ref.Name), Old: now, New: ref.ID})
		}
		return err
	}
	for _, ref := range gone {
		if err := change(&removed, refdb.Ref{Name: ref.Name}); err != nil {
			return err
		}
	}
	for _, ref := range fetched {
		if f.result.Rejected[ref.Name] != nil {
			continue
		}
		if err := change(&moved, ref); err != nil {
			return err
		}
	}
	// Removals come first: a name may have become a directory.
	for _, changes := range [][]refdb.Change{removed, moved} {
		if err := f.Refs.Update(ctx, "fetch", changes...); err != nil {
			return err
		}
	}
	return f.dropLocked(ctx)
}

// dropIncoming removes the references that were not verified.
func (f *fetch) dropIncoming(ctx context.Context) error {
	refs, err := f.Refs.List(f.from.incoming())
	if err != nil || len(refs) == 0 {
		return err
	}
	release, err := f.Refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	return f.dropLocked(ctx)
}

// dropLocked is dropIncoming for the holder of the lock.
func (f *fetch) dropLocked(ctx context.Context) error {
	refs, err := f.Refs.List(f.from.incoming())
	if err != nil {
		return err
	}
	changes := make([]refdb.Change, len(refs))
	for i, ref := range refs {
		changes[i] = refdb.Change{Ref: ref.Name, Old: ref.ID}
	}
	return f.Refs.Update(ctx, "fetch", changes...)
}

// Seen returns the references that the remote had when it was last fetched from or pushed to,
// by their shared names (refs/domarkx/…), and an error for each one that is ignored.
func (c *Client) Seen(in Remote) ([]refdb.Ref, []error, error) {
	refs, err := c.Refs.List(in.Prefix())
	if err != nil {
		return nil, nil, err
	}
	known, ignored := c.accepted(in, refs)
	return known, ignored, nil
}

// accepted returns the tracking references that this program can store.
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
