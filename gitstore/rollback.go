package gitstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// OnRollback sets a function that is called when a ref whose commit is missing was moved back. It must be
// called before the first read.
func (s *Store) OnRollback(tell func(error)) { s.tell = tell }

// A rollback is the error of a ref whose commit is missing: a garbage collection removed it, or the disk
// lost it. Such a ref cannot be read, and `git gc` fails for the whole repository until the ref is moved.
type rollback struct {
	ref, from string
	to        string // the last intact commit in the reflog; "" for none
	created   bool   // whether all commits since the ref was created are missing, so that it is removed
}

func (b *rollback) Error() string {
	k, name := refname.Of(b.ref)
	text := fmt.Sprintf("%s %q: its newest commit %s is missing", k.Noun, name, b.from)
	switch {
	case b.to != "":
		return text + "; moved it back to " + b.to + ", the last whole one"
	case b.created:
		return text + ", and it never had a whole one; removed it"
	}
	return text + ", and its reflog names no whole one; get it from a remote (git domarkx pull) or a backup"
}

// tip returns the commit of a ref, "" if the ref does not exist. If the commit is missing, it moves the ref
// back to the last intact one.
func (s *Store) tip(ctx context.Context, ref string) (string, error) {
	id, ok, err := s.refs.Read(ref)
	if !ok || err != nil {
		return "", err
	}
	return s.wholeTip(ctx, ref, id)
}

// wholeTip is tip for a ref that had the value id a moment ago.
func (s *Store) wholeTip(ctx context.Context, ref, id string) (string, error) {
	if !s.isMissing(id) {
		return id, nil
	}
	id, _, err := s.lockedRollBack(ctx, ref)
	return id, err
}

func (s *Store) lockedRollBack(ctx context.Context, ref string) (string, *rollback, error) {
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return "", nil, err
	}
	id, back, err := s.rollBack(ctx, ref)
	return id, back, errors.Join(err, release())
}

// isMissing reports whether a commit exists neither here nor, in a partial clone, at the remote.
func (s *Store) isMissing(id string) bool {
	oid, err := odb.ParseID(id)
	if err != nil || s.db.Has(oid) {
		return false
	}
	_, err = s.db.Commit(oid)
	return errors.Is(err, domarkx.ErrNotFound)
}

// rollBack moves a ref whose commit is missing back to the last intact commit in its reflog. It returns
// the new value of the ref and a description of the change, nil for none. An error means that the ref
// cannot be moved back. The lock must be held.
func (s *Store) rollBack(ctx context.Context, ref string) (string, *rollback, error) {
	id, ok, err := s.refs.Read(ref)
	if !ok || err != nil || !s.isMissing(id) {
		return id, nil, err
	}
	// A concurrent git gc moves objects. Therefore look again before moving the ref.
	if err := s.db.Refresh(); err != nil || !s.isMissing(id) {
		return id, nil, err
	}
	var exit *gitcmd.Error
	if _, err := s.git.Run(ctx, nil, "cat-file", "-e", id); !errors.As(err, &exit) || exit.Code < 0 {
		return id, nil, err
	}
	back, err := s.lastWhole(ctx, ref, id)
	if err != nil {
		return "", nil, err
	}
	if back.to == "" && !back.created {
		return "", back, fmt.Errorf("%w: %w", domarkx.ErrNotFound, back)
	}
	if err := s.refs.Update(ctx, "move back from a missing commit", refdb.Change{Ref: ref, Old: id, New: back.to}); err != nil {
		return "", back, err
	}
	if back.to != "" {
		// Otherwise git fsck and git gc keep reporting the reflog.
		_, _ = s.git.Run(ctx, nil, "reflog", "expire", "--stale-fix", "--rewrite", "--expire=never", "--expire-unreachable=never", ref)
	}
	if s.tell != nil {
		s.tell(back)
	}
	return back.to, back, nil
}

// lastWhole returns the last commit in a ref's reflog that exists with all objects that it reaches.
func (s *Store) lastWhole(ctx context.Context, ref, id string) (*rollback, error) {
	values, created, err := s.refs.Reflog(ref)
	if err != nil {
		return nil, err
	}
	b := &rollback{ref: ref, from: id, created: created}
	for _, value := range values {
		if s.isMissing(value) {
			continue
		}
		if _, err := s.git.Run(ctx, nil, "rev-list", "--objects", "--quiet", value, "--"); err == nil {
			b.to, b.created = value, false
			return b, nil
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.created = false
	}
	return b, nil
}
