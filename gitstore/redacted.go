package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/purge"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// References returns the refs of sessions and workspaces, live and removed, and those that record the
// state of remotes. It omits the trash of replaced histories.
func (s *Store) References(context.Context) ([]refdb.Ref, error) {
	var all []refdb.Ref
	for _, prefix := range []string{refname.Sessions.Prefix, refname.Workspaces.Prefix, refname.Sessions.Trash, refname.Workspaces.Trash, refname.RemotePrefix} {
		refs, err := s.refs.List(prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

// Commits returns the commits that tips reach and known ones do not, parents before their children.
func (s *Store) Commits(ctx context.Context, tips, known []string) ([]string, error) {
	if len(tips) == 0 {
		return nil, nil
	}
	ids, err := s.revList(ctx, tips, known, "--topo-order", "--reverse", "--ignore-missing")
	commits := make([]string, len(ids))
	for i, id := range ids {
		commits[i] = id.String()
	}
	return commits, err
}

// Redact moves refs of [Store.References] to the given commits, which need not descend from the present
// ones. With keep, the former commits of sessions and workspaces go to the trash of replaced
// histories. It returns the new refs there.
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
			continue // it records the state of a remote
		}
		name, _, _ = strings.Cut(name, "@")
		to, err := tx.freeReplaced(k, name)
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

// freeReplaced returns the first ref for a replaced history, not before now, that does not exist.
func (tx *Tx) freeReplaced(k refname.Kind, name string) (string, error) {
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		ref := k.Replaced + name + "@" + at.Format(refname.TrashTime)
		if there, err := tx.ref(ref); err != nil || there == "" {
			return ref, err
		}
	}
}

// FromReplaced restores the history of a session, and of the workspace of that name, that a redaction
// replaced last. The redacted one goes to the trash. A missing one is [domarkx.ErrNotFound].
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

// ReplacedHistories returns the refs of histories that were replaced by redacted ones.
func (s *Store) ReplacedHistories(context.Context) ([]refdb.Ref, error) {
	var all []refdb.Ref
	for _, k := range refname.Kinds {
		refs, err := s.refs.List(k.Replaced)
		if err != nil {
			return nil, err
		}
		all = append(all, refs...)
	}
	return all, nil
}

// OwnRefsTo returns the refs of the user, such as branches and tags, that lead to one of the commits.
func (s *Store) OwnRefsTo(ctx context.Context, commits []string) ([]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	const most = 1000 // arguments of a command
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

// Purge removes refs of [Store.ReplacedHistories], and then, also from packs, the objects of all replaced commits that nothing leads
// to. keep are objects in use that no ref leads to.
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
	result, err := purge.Run(ctx, purge.Request{Git: s.git, Objects: s.db, Commits: slices.Collect(maps.Keys(replaced)), Keep: keep, Ours: isOurs})
	return result, errors.Join(err, release())
}

// isOurs reports whether a commit is a snapshot or a version.
func isOurs(commit []byte) bool {
	c, err := codec.DecodeCommit(odb.ID{}, commit)
	if err != nil {
		return false
	}
	if _, err := codec.DecodeMessage(c.Message); err == nil {
		return true
	}
	_, _, err = codec.DecodeVersionMessage(c.Message)
	return err == nil
}
