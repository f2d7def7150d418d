package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// List says what the newest snapshot of each session is, in order of name. A
// session that cannot be read is left out, and its error is joined to those of
// others beside the rest of the list.
func (s *Store) List(ctx context.Context) ([]domarkx.Info, error) {
	refs, err := s.refs.List(sessions.prefix)
	if err != nil {
		return nil, err
	}
	cache := listCache{infos: readListCache(s.StateDir())}
	infos := make([]domarkx.Info, 0, len(refs))
	var errs []error
	missed := 0
	for _, ref := range refs {
		info, ok := cache.find(ref.ID)
		if !ok {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			missed++
			id, err := s.wholeTip(ctx, ref.Name, ref.ID)
			if err == nil && id == "" {
				continue
			}
			if err == nil {
				info, err = s.Info(ctx, id)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("session %q: %w", sessions.name(ref.Name), err))
				continue
			}
		}
		info.Name = sessions.name(ref.Name)
		infos = append(infos, info)
	}
	slices.SortFunc(infos, func(a, b domarkx.Info) int { return strings.Compare(a.Name, b.Name) })
	if missed-len(errs) > len(refs)/50+cacheAfter {
		writeListCache(s.StateDir(), infos)
	}
	return infos, errors.Join(errs...)
}

// A Removed is a session in the trash.
type Removed struct {
	domarkx.Info // of the tip it had
	Ref          string
	At           time.Time // when it was removed
}

// Trash lists what was removed, in order of name and then of time. What cannot be
// read is left out, as in [Store.List].
func (s *Store) Trash(ctx context.Context) ([]Removed, error) {
	refs, err := s.refs.List(sessions.trash)
	if err != nil {
		return nil, err
	}
	removed := make([]Removed, 0, len(refs))
	var errs []error
	for _, ref := range refs {
		name, at, err := sessions.parseTrash(ref.Name)
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
			info, err = s.named(ctx, name, id)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("in the trash: %w", err))
			continue
		}
		removed = append(removed, Removed{Info: info, Ref: ref.Name, At: at})
	}
	slices.SortFunc(removed, func(a, b Removed) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.At.Compare(b.At)
	})
	return removed, errors.Join(errs...)
}

// Trashed returns the ids of the snapshots that were removed under a name, the
// earliest first.
func (s *Store) Trashed(_ context.Context, name string) ([]string, error) {
	return s.trashed(sessions, name)
}

func (s *Store) trashed(k kind, name string) ([]string, error) {
	refs, err := s.refs.List(k.trash + name + "@")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, ref := range refs { // sorted by name, and so by time
		if n, _, err := k.parseTrash(ref.Name); err == nil && n == name {
			ids = append(ids, ref.ID)
		}
	}
	return ids, nil
}
