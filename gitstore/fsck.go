package gitstore

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// fixRename is the fix for invalid names.
const fixRename = "git domarkx rename it"

// Fsck reads all objects of sessions, workspaces and the trash with their whole histories, and reports
// deviations from SPEC.md. It verifies digests, but not canonical renderings of messages, which it does
// not know. progress, if not nil, is called with the number of checked refs. An error is returned only
// if checking was not possible.
//
// A concurrent git gc moves objects. Therefore a check that finds damage is repeated until two checks
// find the same.
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

// maxFscks is the maximum number of repetitions of a check with changing results.
const maxFscks = 5

func (s *Store) fsck(ctx context.Context, progress func(done, total int)) ([]snapshot.Finding, error) {
	c := snapshot.NewChecker(s.Reader)
	var findings []snapshot.Finding
	report := func(severity, what, where, fix string) {
		findings = append(findings, snapshot.Finding{Severity: severity, What: what, Where: where, Fix: fix})
	}
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
			report("error", err.Error(), prefix, "git update-ref -d removes the ref; then "+snapshot.FixRestore)
		}
	}
	var named []namedRef
	for _, k := range refname.Kinds {
		live, err := s.refs.List(k.Prefix)
		if err != nil {
			return nil, err
		}
		named = append(named, checkNames(k, live, report)...)
		trash, err := s.refs.List(k.Trash)
		if err != nil {
			return nil, err
		}
		named = append(named, checkTrashNames(k, trash, report)...)
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
			return append(findings, c.Findings...), err
		}
	}
	return append(findings, c.Findings...), nil
}

// A namedRef is a ref, live or in the trash, with the name that it belongs to.
type namedRef struct {
	kind     refname.Kind
	name, id string
}

// rollBackAll moves refs back whose commits are missing, like any command that meets one, and reports
// them.
func (s *Store) rollBackAll(ctx context.Context) (findings []snapshot.Finding, err error) {
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
					findings = append(findings, snapshot.Finding{Severity: "error", What: back.Error(), Where: ref.Name, Fix: "nothing, it is done; git domarkx pull, if a remote has more"})
				case err != nil && back == nil:
					findings = append(findings, snapshot.Finding{Severity: "error", What: "looking for the last whole commit: " + err.Error(), Where: ref.Name, Fix: "make the repository writable, and run fsck again"})
				}
			}
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
