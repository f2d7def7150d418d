package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/purge"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// References returns the refs of sessions and workspaces, those of both in the trash, and the remote-tracking refs. It omits the
// refs of replaced histories ([Store.ReplacedHistories]).
func (s *Store) References(context.Context) ([]refdb.Ref, error) {
	return s.refsBelow(refname.Sessions.Prefix, refname.Workspaces.Prefix, refname.Sessions.Trash, refname.Workspaces.Trash, refname.RemotePrefix)
}

func (s *Store) refsBelow(prefixes ...string) (all []refdb.Ref, err error) {
	for _, prefix := range prefixes {
		refs, err := s.refs.List(prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

// Commits returns the commits that tips reach and the commits known do not reach, parents before their children. It ignores
// ids of commits that do not exist.
func (s *Store) Commits(ctx context.Context, tips, known []string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	return s.revList(ctx, tips, known, "--topo-order", "--reverse", "--ignore-missing")
}

// Redact moves refs of [Store.References] to the given commits, which need not descend from the present ones. If keep is set,
// it creates refs of replaced histories for the former commits of sessions and workspaces, and returns these refs. It returns
// [domarkx.ErrConflict] if a session or workspace no longer exists.
func (tx *Tx) Redact(_ context.Context, moves map[string]string, keep bool) ([]string, error) {
	var kept []string
	for _, ref := range slices.Sorted(maps.Keys(moves)) {
		old, err := tx.ref(ref)
		if err != nil {
			return nil, err
		}
		if old == "" && !strings.HasPrefix(ref, refname.RemotePrefix) {
			return nil, fmt.Errorf("ref %s: %w: it was removed meanwhile", ref, domarkx.ErrConflict)
		}
		if err := tx.move(ref, moves[ref]); err != nil {
			return nil, err
		}
		k, name := refname.Of(ref)
		if k.Prefix == "" || !keep {
			continue // a remote-tracking ref, or the former commit is not kept
		}
		name, _, _ = strings.Cut(name, "@")
		at, err := tx.freeTime(name, k.Replaced)
		to := k.Replaced + name + "@" + at
		if err == nil {
			err = tx.move(to, old)
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, to)
	}
	return kept, nil
}

// IsReplaced reports whether the trash has the history of a session that a redaction replaced.
func (s *Store) IsReplaced(name string) bool {
	refs, err := s.refs.List(refname.Sessions.Replaced + name + "@")
	return err == nil && len(refs) > 0
}

// FromReplaced restores the history of a session that the last redaction replaced, and that of the workspace with the same name
// if there is one. The redacted session and workspace go to the trash. It returns [domarkx.ErrNotFound] if there is no replaced
// history of the session.
func (tx *Tx) FromReplaced(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.store.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	var session string
	for _, k := range refname.Kinds {
		refs, err := tx.store.refs.List(k.Replaced + name + "@")
		if err != nil {
			return domarkx.Info{}, err
		}
		if len(refs) == 0 {
			if k == refname.Sessions {
				return domarkx.Info{}, fmt.Errorf("session %q in the trash of redacted ones: %w", name, domarkx.ErrNotFound)
			}
			continue
		}
		latest := refs[len(refs)-1]
		if now, err := tx.ref(k.Ref(name)); err != nil {
			return domarkx.Info{}, err
		} else if now != "" {
			err = tx.toTrash(k, name)
			if err != nil {
				return domarkx.Info{}, err
			}
		}
		if err := tx.take(k, name); err != nil {
			return domarkx.Info{}, err
		}
		if err := tx.move(latest.Name, ""); err != nil {
			return domarkx.Info{}, err
		}
		if err := tx.move(k.Ref(name), latest.ID); err != nil {
			return domarkx.Info{}, err
		}
		if k == refname.Sessions {
			session = latest.ID
		}
	}
	return tx.NamedInfo(ctx, name, session)
}

// ReplacedHistories returns the refs that keep the histories which redactions have replaced.
func (s *Store) ReplacedHistories(context.Context) ([]refdb.Ref, error) {
	return s.refsBelow(refname.Sessions.Replaced, refname.Workspaces.Replaced)
}

// OwnRefsTo returns the names of the user's own refs, such as branches and tags, that reach one of the commits. It looks only
// at the first 1,000 commits.
func (s *Store) OwnRefsTo(ctx context.Context, commits []string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	const most = 1000 // each commit is an argument of the command
	args := []string{"for-each-ref", "--format=%(refname)"}
	for _, id := range commits[:min(len(commits), most)] {
		args = append(args, "--contains="+id)
	}
	out, err := s.git.Run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	var refs []string
	for name := range strings.FieldsSeq(string(out)) {
		if !strings.HasPrefix(name, "refs/domarkx") {
			refs = append(refs, name)
		}
	}
	return refs, nil
}

// Purge removes the given refs, which are some of [Store.ReplacedHistories]. Then it removes the objects of all replaced commits
// that are no longer in use, also from packs. keep lists the ids of further objects that are in use. See [purge.Run].
func (s *Store) Purge(ctx context.Context, refs []refdb.Ref, keep []string) (purge.Result, error) {
	if len(refs) > 0 {
		err := s.Update(ctx, "purge", func(tx *Tx) error {
			var errs []error
			for _, ref := range refs {
				errs = append(errs, tx.move(ref.Name, ""))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			return purge.Result{}, err
		}
	}
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return purge.Result{}, err
	}
	replaced, err := s.Replacements()
	if err != nil {
		return purge.Result{}, errors.Join(err, release())
	}
	result, err := purge.Run(ctx, purge.Request{Git: s.git, Objects: s.db, Commits: slices.Collect(maps.Keys(replaced)), Keep: keep, Ours: s.isOurs})
	return result, errors.Join(err, release())
}

// isOurs reports whether an encoded commit is a snapshot or a workspace version.
func (s *Store) isOurs(commit []byte) bool {
	c, err := codec.DecodeCommit(s.db.Hash(), commit)
	if err != nil {
		return false
	}
	if _, err := codec.DecodeMessage(c.Message); err == nil {
		return true
	}
	_, _, err = codec.DecodeVersionMessage(c.Message)
	return err == nil
}
