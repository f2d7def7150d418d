package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Finding is a message of [Store.Fsck] or [Store.GC].
type Finding struct {
	Severity string // "error", "warning" or "info"
	What     string
	Where    string // a ref, or NAME@OID and a path
	Fix      string // a command or an instruction
}

// Fixes of several findings.
const (
	fixRestore = "get the session from a remote or a backup: git domarkx pull"
	fixRename  = "git domarkx rename it"
)

// Fsck reads all objects of sessions, workspaces and the trash with their whole histories, and reports
// deviations from SPEC.md. It verifies digests, but not canonical renderings of messages, which it does
// not know. progress, if not nil, is called with the number of checked refs. An error is returned only
// if checking was not possible.
//
// A concurrent git gc moves objects. Therefore a check that finds damage is repeated until two checks
// find the same.
func (s *Store) Fsck(ctx context.Context, progress func(done, total int)) ([]Finding, error) {
	back, err := s.rollBackAll(ctx)
	if err != nil {
		return back, err
	}
	var before []Finding
	for try := 0; ; try++ {
		found, err := s.fsck(ctx, progress)
		if err != nil || try == maxFscks || slices.Equal(found, before) {
			return append(back, found...), err
		}
		before = found
		if err := s.db.Refresh(); err != nil {
			return nil, err
		}
	}
}

// maxFscks is the maximum number of repetitions of a check with changing results.
const maxFscks = 5

func (s *Store) fsck(ctx context.Context, progress func(done, total int)) ([]Finding, error) {
	c := newChecker(s.reader)
	prefixes := []string{refname.RemotePrefix}
	for _, k := range refname.Kinds {
		prefixes = append(prefixes, k.Prefix, k.Trash)
	}
	for _, prefix := range prefixes {
		damaged, err := s.refs.Damaged(prefix)
		if err != nil {
			return nil, err
		}
		for _, err := range damaged {
			c.report("error", err.Error(), prefix, "git update-ref -d removes the ref; then "+fixRestore)
		}
	}
	var named []namedRef
	for _, k := range refname.Kinds {
		live, err := s.refs.List(k.Prefix)
		if err != nil {
			return nil, err
		}
		named = append(named, c.names(k, live)...)
		trash, err := s.refs.List(k.Trash)
		if err != nil {
			return nil, err
		}
		named = append(named, c.trashNames(k, trash)...)
	}
	for i, ref := range named {
		if progress != nil {
			progress(i, len(named))
		}
		check := c.session
		if ref.kind == refname.Workspaces {
			check = c.workspace
		}
		if err := check(ctx, ref.name, ref.id); err != nil {
			return c.findings, err
		}
	}
	return c.findings, nil
}

// A namedRef is a ref, live or in the trash, with the name that it belongs to.
type namedRef struct {
	kind     refname.Kind
	name, id string
}

// rollBackAll moves refs back whose commits are missing, like any command that meets one, and reports
// them.
func (s *Store) rollBackAll(ctx context.Context) (findings []Finding, err error) {
	for _, k := range refname.Kinds {
		for _, prefix := range []string{k.Prefix, k.Trash} {
			refs, err := s.refs.List(prefix)
			if err != nil {
				return nil, err
			}
			for _, ref := range refs {
				if !s.isMissing(ref.ID) {
					continue
				}
				_, back, err := s.lockedRollBack(ctx, ref.Name)
				switch {
				case ctx.Err() != nil:
					return nil, ctx.Err()
				case err == nil && back != nil:
					findings = append(findings, Finding{"error", back.Error(), ref.Name, "nothing, it is done; git domarkx pull, if a remote has more"})
				case err != nil && back == nil:
					findings = append(findings, Finding{"error", "looking for the last whole commit: " + err.Error(), ref.Name, "make the repository writable, and run fsck again"})
				}
			}
		}
	}
	return findings, nil
}

// names checks the names of refs.
func (c *checker) names(k refname.Kind, refs []refdb.Ref) []namedRef {
	var named []namedRef
	names := refname.NewIndex(k)
	for _, ref := range refs {
		name := k.Name(ref.Name)
		err := k.Check(name)
		if err == nil {
			err = names.Check(name)
		}
		if err != nil {
			c.report("warning", err.Error(), ref.Name, fixRename)
		}
		names.Add(name)
		named = append(named, namedRef{k, name, ref.ID})
	}
	return named
}

// trashNames checks the names of refs in the trash.
func (c *checker) trashNames(k refname.Kind, refs []refdb.Ref) []namedRef {
	var named []namedRef
	for _, ref := range refs {
		name, _, err := k.ParseTrash(ref.Name)
		if err != nil {
			c.report("warning", err.Error(), ref.Name, "git update-ref -d "+ref.Name)
			name = ref.Name
		}
		named = append(named, namedRef{k, name, ref.ID})
	}
	return named
}

// A checker checks each object once, however many snapshots contain it.
type checker struct {
	reader
	findings []Finding
	commits  map[string]bool
	trees    memo             // directories of conversations
	blobs    memo             // blobs by their use
	links    map[string]bool  // links in the messages of the session
	extents  *version.Checker // checks versions of resources
	origins  originChecks

	// message, if set, compares a message that is stored only as JSON with the recorded digest of its
	// rendering.
	message func(e domarkx.Entry, m domarkx.Message) error
}

func newChecker(r reader) checker {
	return checker{reader: r, commits: map[string]bool{}, trees: memo{}, blobs: memo{}, links: map[string]bool{}, origins: originChecks{},
		extents: r.resourceVersions().NewChecker(nil)}
}

func (c *checker) report(severity, what, where, fix string) {
	c.findings = append(c.findings, Finding{severity, what, where, fix})
}

// damaged reports err if it is not nil. It returns an error only if ctx has ended.
func (c *checker) damaged(ctx context.Context, err error, where string) error {
	if ctx.Err() != nil || err == nil {
		return ctx.Err()
	}
	fix := fixRestore
	if errors.Is(err, domarkx.ErrUnsupported) {
		fix = "use a newer git-domarkx"
	}
	c.report("error", err.Error(), where, fix)
	return nil
}

// session checks a session's tip and its history.
func (c *checker) session(ctx context.Context, name, tip string) error {
	c.links = map[string]bool{}
	err := c.history(ctx, tip, func(id string) (ancestor, []ancestor, error) {
		commit, info, err := c.snapshot(id)
		if err != nil {
			return ancestor{}, nil, c.damaged(ctx, err, name+"@"+id)
		}
		a := ancestor{id: id, number: info.Number, parents: commit.Parents}
		_, err = c.check(ctx, snapshotBase{}, commit, info)
		if err := c.damaged(ctx, err, name+"@"+id); err != nil {
			return a, nil, err
		}
		if id == tip {
			if err := c.damaged(ctx, c.order(ctx, id), name+"@"+id); err != nil {
				return a, nil, err
			}
		}
		for _, p := range commit.Parents {
			if _, err := c.snapshots().read(p); errors.Is(err, codec.ErrNoSnapshot) {
				if err := c.workspace(ctx, name, p.String()); err != nil {
					return a, nil, err
				}
			}
		}
		before, err := c.snapshots().before(a, -1)
		return a, before, err
	}, name)
	if err != nil {
		return err
	}
	return c.checkLinks(ctx, name, tip)
}

// history checks a commit and its history, each commit once. check returns a commit and its parents; its
// error means that the parents cannot be read.
func (c *checker) history(ctx context.Context, tip string, check func(id string) (ancestor, []ancestor, error), name string) error {
	queue := []string{tip}
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if c.commits[id] {
			continue
		}
		c.commits[id] = true
		where := name + "@" + id
		a, parents, err := check(id)
		if err != nil {
			if err := c.damaged(ctx, fmt.Errorf("its history is cut off: %w", err), where); err != nil {
				return err
			}
			continue
		}
		number := 1
		for _, p := range parents {
			number = max(number, p.number+1)
			queue = append(queue, p.id)
		}
		if len(parents) > 0 && number != a.number {
			c.report("warning", fmt.Sprintf("its number is %d, expected %d", a.number, number), where, "nothing: numbers are only shown")
		}
	}
	return nil
}

// order checks that the messages are in the order that merging defines.
func (c *checker) order(ctx context.Context, id string) error {
	state, err := c.Load(ctx, id)
	if err != nil {
		return nil // reported already
	}
	for _, e := range state.Thread.Live {
		c.noteLink(e)
	}
	again := domarkx.Merge(&state.Thread, &state.Thread)
	same := slices.EqualFunc(state.Thread.Live, again.Live, func(a, b domarkx.Entry) bool {
		return a.ID == b.ID && a.Rev == b.Rev && a.After == b.After && slices.Equal(a.Past, b.Past)
	}) && slices.EqualFunc(state.Thread.Dead, again.Dead, func(a, b domarkx.Tombstone) bool { return a.ID == b.ID && a.After == b.After })
	if !same {
		return fmt.Errorf("conversation: %w: its messages are not in the order that follows from their ids", domarkx.ErrCorrupt)
	}
	return nil
}
