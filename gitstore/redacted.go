package gitstore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
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
	return idStrings(ids), err
}

// A CommitHead is a snapshot or a workspace version, without its content.
type CommitHead struct {
	Info              domarkx.Info    // of a snapshot
	Version           domarkx.Version // of a workspace version, without its resources
	IsVersion         bool
	Parents           []string
	Author, Committer domarkx.Signature
}

// Head reads the commit of a snapshot or of a workspace version.
func (r reader) Head(_ context.Context, id string) (CommitHead, error) {
	oid, err := odb.ParseID(id)
	if err != nil {
		return CommitHead{}, err
	}
	c, err := r.commit(oid)
	if err != nil {
		return CommitHead{}, err
	}
	head := CommitHead{Parents: idStrings(c.Parents), Author: c.Author, Committer: c.Committer}
	if head.Info, err = codec.DecodeMessage(c.Message); err == nil {
		head.Info.ID, head.Info.Date = id, c.Committer.When.Unix()
		return head, nil
	}
	_, v, _, e := r.version(oid)
	if e != nil {
		return CommitHead{}, fmt.Errorf("commit %s: %w", id, err)
	}
	head.Version, head.IsVersion = v, true
	return head, nil
}

// AttachmentsOf returns the attachments of a snapshot, file records among them, sorted by digest.
func (r reader) AttachmentsOf(_ context.Context, snapshot string) ([]domarkx.Attachment, error) {
	root, _, err := r.root(snapshot)
	if err != nil {
		return nil, err
	}
	top, err := directory(root, attachmentsName)
	if err != nil || top.IsZero() {
		return nil, err
	}
	directories, err := r.tree(top)
	if err != nil {
		return nil, err
	}
	var all []domarkx.Attachment
	for _, d := range directories {
		if !d.IsTree() {
			continue
		}
		entries, err := r.tree(d.ID)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsTree() {
				continue // the chunks of a large one
			}
			blob, err := stored(entries, e.Name)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", attachmentsName, d.Name, err)
			}
			all = append(all, domarkx.Attachment{SHA256: d.Name + e.Name, Blob: blob})
		}
	}
	return all, nil
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
	return tx.named(ctx, name, session)
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
