package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// List returns the newest snapshot of each session, sorted by name. Sessions that cannot be read are
// omitted; their errors are joined and returned together with the list.
func (s *Store) List(ctx context.Context) ([]domarkx.Info, error) {
	cache := listCache{infos: readListCache(s.StateDir())}
	read := func(id string) (domarkx.Info, error) { return s.Info(ctx, id) }
	infos, isStale, err := tips(ctx, s, refname.Sessions, cache.find, read, func(info *domarkx.Info, name string) { info.Name = name })
	slices.SortFunc(infos, func(a, b domarkx.Info) int { return strings.Compare(a.Name, b.Name) })
	if isStale {
		writeListCache(s.StateDir(), infos)
	}
	return infos, err
}

// tips returns what the refs of sessions or workspaces point to, from a cache or read from its commit, and whether
// the cache lacked so many that it should be written again. Those that cannot be read are omitted, and their errors joined.
func tips[T any](ctx context.Context, s *Store, kind refname.Kind, find func(id string) (T, bool), read func(id string) (T, error), setName func(tip *T, name string)) (all []T, isStale bool, err error) {
	refs, err := s.refs.List(kind.Prefix)
	if err != nil {
		return nil, false, err
	}
	all = make([]T, 0, len(refs))
	var errs []error
	missed := 0
	for _, ref := range refs {
		tip, ok := find(ref.ID)
		if !ok {
			if err := ctx.Err(); err != nil {
				return nil, false, err
			}
			missed++
			id, err := s.wholeTip(ctx, ref.Name, ref.ID)
			if err == nil && id == "" {
				continue
			}
			if err == nil {
				tip, err = read(id)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("%s %q: %w", kind.Noun, kind.Name(ref.Name), err))
				continue
			}
		}
		setName(&tip, kind.Name(ref.Name))
		all = append(all, tip)
	}
	return all, missed-len(errs) > len(refs)/50+cacheAfter, errors.Join(errs...)
}

// A TrashedSession is a session in the trash.
type TrashedSession struct {
	domarkx.Info // its last tip
	Ref          string
	At           time.Time // time of the removal
}

// Trash lists the sessions in the trash, sorted by name and time. Those that cannot be read are handled
// as in [Store.List].
func (s *Store) Trash(ctx context.Context) ([]TrashedSession, error) {
	refs, err := s.refs.List(refname.Sessions.Trash)
	if err != nil {
		return nil, err
	}
	removed := make([]TrashedSession, 0, len(refs))
	var errs []error
	for _, ref := range refs {
		name, at, err := refname.Sessions.ParseTrash(ref.Name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		id, err := s.wholeTip(ctx, ref.Name, ref.ID)
		if err == nil && id == "" {
			continue
		}
		var info domarkx.Info
		if err == nil {
			info, err = s.NamedInfo(ctx, name, id)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("in the trash: %w", err))
			continue
		}
		removed = append(removed, TrashedSession{Info: info, Ref: ref.Name, At: at})
	}
	slices.SortFunc(removed, func(a, b TrashedSession) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.At.Compare(b.At)
	})
	return removed, errors.Join(errs...)
}

// Trashed returns the ids of the snapshots that were removed under a name, the earliest first.
func (s *Store) Trashed(_ context.Context, name string) ([]string, error) {
	return s.trashed(refname.Sessions, name)
}

func (s *Store) trashed(k refname.Kind, name string) ([]string, error) {
	refs, err := s.refs.List(k.Trash + name + "@")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, ref := range refs { // sorted by name, and therefore by time
		if n, _, err := k.ParseTrash(ref.Name); err == nil && n == name {
			ids = append(ids, ref.ID)
		}
	}
	return ids, nil
}
