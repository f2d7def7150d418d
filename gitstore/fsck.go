package gitstore

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// fixRename is the advice for findings about invalid names.
const fixRename = "git domarkx rename it"

// Fsck reads all objects of sessions, workspaces and the trash with their whole histories, and returns a finding for each
// deviation from SPEC.md. It verifies digests, except those of messages without author's bytes: these need the canonical
// rendering, which this package does not know. It moves refs whose commits are missing back to intact ones, and reports that
// too. If progress is not nil, Fsck calls it with the number of refs that are checked and that of all. Fsck returns an error
// only if it cannot check.
//
// A concurrent git gc moves objects, which a check can take for damage. So Fsck repeats a check that finds any until two
// successive checks find the same.
func (s *Store) Fsck(ctx context.Context, progress func(done, total int)) ([]snapshot.Finding, error) {
	back, err := s.rollBackAll(ctx)
	if err != nil {
		return back, err
	}
	var before []snapshot.Finding
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

// maxFscks is how often Fsck repeats a check whose findings change.
const maxFscks = 5

func (s *Store) fsck(ctx context.Context, progress func(done, total int)) ([]snapshot.Finding, error) {
	c := snapshot.NewChecker(s.Reader)
	for _, prefix := range refname.Prefixes() {
		damaged, err := s.refs.Damaged(prefix)
		if err != nil {
			return nil, err
		}
		for _, err := range damaged {
			c.Report("error", err.Error(), prefix, "git update-ref -d removes the ref; then "+snapshot.FixRestore)
		}
	}
	var named []namedRef
	for _, k := range refname.Kinds {
		live, err := s.refs.List(k.Prefix)
		if err != nil {
			return nil, err
		}
		named = append(named, checkNames(k, live, c.Report)...)
		trash, err := s.refs.List(k.Trash)
		if err != nil {
			return nil, err
		}
		named = append(named, checkTrashNames(k, trash, c.Report)...)
	}
	for i, ref := range named {
		if progress != nil {
			progress(i, len(named))
		}
		check := c.Session
		if ref.kind == refname.Workspaces {
			check = c.Workspace
		}
		if err := check(ctx, ref.name, ref.id); err != nil {
			return c.Findings, err
		}
	}
	return c.Findings, nil
}

// A namedRef is a ref, live or in the trash, with its kind and the name in it.
type namedRef struct {
	kind     refname.Kind
	name, id string
}

// rollBackAll moves all refs back whose commits are missing, as any command does that reads such a ref, and reports them.
func (s *Store) rollBackAll(ctx context.Context) (findings []snapshot.Finding, err error) {
	refs, err := s.refsBelow(refname.Sessions.Prefix, refname.Sessions.Trash, refname.Workspaces.Prefix, refname.Workspaces.Trash)
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
			findings = append(findings, snapshot.Finding{Severity: "error", What: back.Error(), Where: ref.Name, Fix: "nothing; if a remote has newer snapshots, git domarkx pull"})
		case err != nil && back == nil:
			findings = append(findings, snapshot.Finding{Severity: "error", What: "looking for the last intact commit: " + err.Error(), Where: ref.Name, Fix: "make the repository writable, and run fsck again"})
		}
	}
	return findings, nil
}

// A reporter records a finding.
type reporter func(severity, what, where, fix string)

func checkNames(k refname.Kind, refs []refdb.Ref, report reporter) []namedRef {
	var named []namedRef
	names := refname.NewIndex(k)
	for _, ref := range refs {
		name := k.Name(ref.Name)
		err := k.Check(name)
		if err == nil {
			err = names.Check(name)
		}
		if err != nil {
			report("warning", err.Error(), ref.Name, fixRename)
		}
		names.Add(name)
		named = append(named, namedRef{k, name, ref.ID})
	}
	return named
}

func checkTrashNames(k refname.Kind, refs []refdb.Ref, report reporter) []namedRef {
	var named []namedRef
	for _, ref := range refs {
		name, _, err := k.ParseTrash(ref.Name)
		if err != nil {
			report("warning", err.Error(), ref.Name, "git update-ref -d "+ref.Name)
			name = ref.Name
		}
		named = append(named, namedRef{k, name, ref.ID})
	}
	return named
}
