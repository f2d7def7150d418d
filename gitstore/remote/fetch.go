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

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// maxRefs is the number of references of a remote above which the rest is ignored.
const maxRefs = 200_000

// FetchResult is the result of a fetch. Its references have their shared names and are sorted by them.
type FetchResult struct {
	Refs    []refdb.Ref    // all references of the remote, as the tracking references now record them
	Changes []refdb.Change // from their values before the fetch
	Ignored []error        // one for each reference of the remote that this program cannot store

	// Rejected contains an error for each reference whose objects could not be fetched, or which [Client.Verify] or
	// [Client.Receive] rejected. Refs contains its previous value, if it has one.
	Rejected map[string]error
}

// A fetch is the state of one call of [Client.Fetch].
type fetch struct {
	*Client
	from    Remote
	inherit []*os.File      // for git, which must hold them open: see [refdb.Refs.Guard]
	only    map[string]bool // shared names of the requested references; nil for all
	result  FetchResult
	failed  int // number of calls of git fetch that failed
}

// Fetch sets the tracking references of a remote to what the remote has, and removes those of references that the remote
// no longer has. If refs is not empty, it does so only for these shared names, which the remote need not have. Fetch
// changes no other reference and no other file, not even FETCH_HEAD.
//
// If Fetch returns an error or is interrupted, it may have updated some tracking references. The next fetch updates the
// rest.
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
		return FetchResult{}, fmt.Errorf("fetching from %q: %w", from, err)
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
	if fetched, err = f.receive(ctx, known, fetched); err != nil {
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

// receive calls [Client.Receive] for the references that were not rejected. It returns those that are to be recorded
// unchanged, and updates known, the values of the tracking references, to those that Receive set.
func (f *fetch) receive(ctx context.Context, known map[string]string, fetched []refdb.Ref) ([]refdb.Ref, error) {
	if f.Receive == nil {
		return fetched, nil
	}
	var rest []refdb.Ref
	for _, ref := range fetched {
		if f.result.Rejected[ref.Name] != nil {
			continue
		}
		recorded, others, err := f.Receive(ctx, ref)
		for _, move := range others {
			if name := f.from.Shared(move.Ref); known[name] == move.From {
				known[name] = move.To
			}
		}
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

// list returns the references of the remote that this program can store, by shared name and sorted. It sets the errors
// of the others in f.result.Ignored.
func (f *fetch) list(ctx context.Context) ([]refdb.Ref, error) {
	args := []string{"ls-remote", "--refs", "--", f.from.address}
	for _, kind := range f.Kinds {
		args = append(args, shared+kind+"/*")
	}
	out, err := f.Git.Do(ctx, gitcmd.Command{Args: args, Terminal: true})
	if err != nil {
		return nil, f.explain(f.from, err)
	}
	var refs []refdb.Ref
	for line := range strings.Lines(string(out)) {
		id, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok && len(id) != f.Git.Hash.HexSize() {
			return nil, &OtherHashError{f.from.String(), f.Git.Hash}
		}
		if ok && strings.HasPrefix(name, shared) { // ls-remote's pattern also matches x/refs/domarkx/…
			refs = append(refs, refdb.Ref{Name: f.from.Tracking(name), ID: id})
		}
	}
	refs, f.result.Ignored = f.accepted(f.from, refs)
	return refs, nil
}

// gone returns the references in was that the remote no longer has, and of those only the requested ones.
func gone(was, there []refdb.Ref, only map[string]bool) []refdb.Ref {
	has := make(map[string]bool, len(there))
	for _, ref := range there {
		has[ref.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(was), func(ref refdb.Ref) bool { return has[ref.Name] || only != nil && !only[ref.Name] })
}

// maxFailed is the number of failed calls of git fetch after which the remaining references are rejected.
const maxFailed = 200

// bring fetches objects of references, and sets their incoming references. If git fails although the remote answers,
// bring finds the references that cause the failure by halving the list, and rejects them.
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

// maxTries is how often git fetch is run while a concurrent git prune removes what it needs.
const maxTries = 20

// isPruned reports whether git fetch may have failed because a concurrent git prune removed the pack that it was
// writing, or an object of a session that another process is writing and will store again. Git reports both only as
// text.
func isPruned(err error) bool {
	var failed *gitcmd.Error
	if !errors.As(err, &failed) || strings.Contains(failed.Stderr, "fsck error") {
		return false // git index-pack also fails for a bad object, which a repetition would not mend
	}
	return strings.Contains(failed.Stderr, "index-pack") || strings.Contains(failed.Stderr, "tmp_pack") || strings.Contains(failed.Stderr, "bad object")
}

// call runs git fetch, which stores objects of the references and sets their incoming references.
func (f *fetch) call(ctx context.Context, refs []refdb.Ref) (err error) {
	var specs strings.Builder
	for _, ref := range refs {
		specs.WriteString("+" + ref.Name + ":" + f.from.incoming() + strings.TrimPrefix(ref.Name, shared) + "\n")
	}
	for range maxTries {
		_, err = f.Git.Do(ctx, gitcmd.Command{
			Args:     append(f.fetchOptions(), "--stdin", "--", f.from.address),
			Stdin:    strings.NewReader(specs.String()),
			Stderr:   f.Progress,
			Inherit:  f.inherit,
			Terminal: true,
		})
		if !isPruned(err) {
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
		"--refmap=", // without it, git fetch would apply the configured refspecs too
		"--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--no-filter", // a partial clone would fetch sessions without their blobs
	}
}

// track sets the tracking references of fetched references that were not rejected, removes those of references that are
// gone, and removes all incoming references. It leaves a tracking reference that no longer has its known value.
func (f *fetch) track(ctx context.Context, known map[string]string, gone, fetched []refdb.Ref) error {
	release, err := f.Refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = release() }()
	var removed, moved []refdb.Change
	change := func(list *[]refdb.Change, ref refdb.Ref) error {
		now, _, err := f.Refs.Read(f.from.Tracking(ref.Name))
		// another value than the known one was recorded by a concurrent push and is newer
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
	// Removals come first, since the name of a removed reference may be a directory of a new one.
	for _, changes := range [][]refdb.Change{removed, moved} {
		if err := f.Refs.Update(ctx, "fetch", changes...); err != nil {
			return err
		}
	}
	return f.dropLocked(ctx)
}

// dropIncoming removes the incoming references, if there are any. It takes the lock, which dropLocked needs.
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

// dropLocked removes the incoming references. The caller holds the lock.
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

// Seen returns what the tracking references of a remote record, without asking the remote: the references by shared
// name, sorted, and an error for each one that this program cannot store.
func (c *Client) Seen(in Remote) ([]refdb.Ref, []error, error) {
	refs, err := c.Refs.List(in.Prefix())
	if err != nil {
		return nil, nil, err
	}
	known, ignored := c.accepted(in, refs)
	return known, ignored, nil
}

// accepted converts tracking references to shared names, sorted, and returns an error for each one that this program
// cannot store, instead of the reference.
func (c *Client) accepted(from Remote, refs []refdb.Ref) (known []refdb.Ref, ignored []error) {
	if len(refs) > maxRefs {
		ignored = append(ignored, fmt.Errorf("the remote %q has %d sessions and workspaces; all after the first %d are ignored: %w", from, len(refs), maxRefs, domarkx.ErrUnsupported))
		refs = refs[:maxRefs]
	}
	for _, ref := range refs {
		name := from.Shared(ref.Name)
		err := c.accept(name)
		if err != nil {
			ignored = append(ignored, fmt.Errorf("the remote %q has %q, which is ignored: %w", from, name, err))
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

// differences returns the changes that lead from one list of references to another, sorted by name.
func differences(before, after []refdb.Ref) []refdb.Change {
	changes := map[string]refdb.Change{}
	for _, ref := range before {
		changes[ref.Name] = refdb.Change{Ref: ref.Name, Old: ref.ID}
	}
	for _, ref := range after {
		changes[ref.Name] = refdb.Change{Ref: ref.Name, Old: changes[ref.Name].Old, New: ref.ID}
	}
	maps.DeleteFunc(changes, func(_ string, c refdb.Change) bool { return c.Old == c.New })
	return slices.SortedFunc(maps.Values(changes), func(a, b refdb.Change) int { return cmp.Compare(a.Ref, b.Ref) })
}
