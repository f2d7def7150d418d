package gitstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// OnRollback sets a function that is called with a description after a ref whose commit is missing was moved back. It must be
// set before the first read.
func (s *Store) OnRollback(tell func(error)) { s.tell = tell }

// A rollback describes what happened to a ref whose commit is missing, because git gc has removed it or the disk has lost it.
// Such a ref cannot be read, and `git gc` fails for the whole repository until the ref is moved or removed.
type rollback struct {
	ref, from string
	to        string // the last intact commit in the reflog, to which the ref was moved; "" for none
	created   bool   // whether the reflog goes back to the ref's creation and all its commits are missing: the ref was removed
}

func (b *rollback) Error() string {
	k, name := refname.Of(b.ref)
	text := fmt.Sprintf("%s %q: its newest commit %s is missing", k.Noun, name, b.from)
	switch {
	case b.to != "":
		return text + "; moved it back to " + b.to + ", the last intact one"
	case b.created:
		return text + ", and so are all earlier ones; removed it"
	}
	return text + ", and its reflog names no intact one; remove it (git update-ref -d " + b.ref + "), then get it from a remote (git domarkx pull) or a backup"
}

// tip returns the commit of a ref, or "" if the ref does not exist. If the commit is missing, it moves the ref back to the last
// intact one and returns that.
func (s *Store) tip(ctx context.Context, ref string) (string, error) {
	id, ok, err := s.refs.Read(ref)
	if !ok || err != nil {
		return "", err
	}
	return s.wholeTip(ctx, ref, id)
}

// wholeTip is like tip, for a ref whose value id was just read.
func (s *Store) wholeTip(ctx context.Context, ref, id string) (string, error) {
	if !s.isMissing(id) {
		return id, nil
	}
	id, _, err := s.lockedRollBack(ctx, ref)
	return id, err
}

// lockedRollBack is like rollBack, for a caller that need not hold the repository's lock. While this store holds it, perhaps for
// an update that is the caller, nothing is moved: to wait for the lock would never end.
func (s *Store) lockedRollBack(ctx context.Context, ref string) (string, *rollback, error) {
	if s.refs.Held() {
		return s.lookBack(ctx, ref)
	}
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return "", nil, err
	}
	id, back, err := s.rollBack(ctx, ref)
	return id, back, errors.Join(err, release())
}

// isMissing reports whether a commit does not exist and, in a partial clone, cannot be fetched either.
func (s *Store) isMissing(id string) bool {
	oid, err := odb.ParseID(id)
	if err != nil || s.db.Has(oid) {
		return false
	}
	_, err = s.db.Commit(oid)
	return errors.Is(err, domarkx.ErrNotFound)
}

// rollBack moves a ref whose commit is missing back to the last intact commit in its reflog, or removes it if all its commits
// are missing. It returns the ref's value and, if the commit was missing, a description. An error means that the ref was not
// moved: it is [domarkx.ErrNotFound] if the reflog has no intact commit. The caller holds the repository's lock.
func (s *Store) rollBack(ctx context.Context, ref string) (string, *rollback, error) {
	id, back, err := s.lookBack(ctx, ref)
	if back == nil || err != nil {
		return id, back, err
	}
	if err := s.refs.Update(ctx, "move back from a missing commit", refdb.Change{Ref: ref, Old: back.from, New: back.to}); err != nil {
		return "", back, err
	}
	if back.to != "" {
		// Without this, git fsck and git gc would go on reporting the missing commits in the reflog.
		_, _ = s.git.Run(ctx, nil, "reflog", "expire", "--stale-fix", "--rewrite", "--expire=never", "--expire-unreachable=never", ref)
	}
	if s.tell != nil {
		s.tell(back)
	}
	return back.to, back, nil
}

// lookBack returns what rollBack does, and moves nothing.
func (s *Store) lookBack(ctx context.Context, ref string) (string, *rollback, error) {
	id, ok, err := s.refs.Read(ref)
	if !ok || err != nil || !s.isMissing(id) {
		return id, nil, err
	}
	// A concurrent git gc may just have moved the commit to another pack. So look for it again.
	if err := s.db.Refresh(); err != nil || !s.isMissing(id) {
		return id, nil, err
	}
	var exit *gitcmd.Error
	if _, err := s.git.Run(ctx, nil, "cat-file", "-e", id); !errors.As(err, &exit) || exit.Code < 0 {
		return id, nil, err
	}
	back, err := s.lastIntact(ctx, ref, id)
	if err != nil {
		return "", nil, err
	}
	if back.to == "" && !back.created {
		return "", back, fmt.Errorf("%w: %w", domarkx.ErrNotFound, back)
	}
	return back.to, back, nil
}

// lastIntact describes the rollback to the last intact commit in a ref's reflog. A commit is intact if all objects that it
// reaches exist.
func (s *Store) lastIntact(ctx context.Context, ref, id string) (*rollback, error) {
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
