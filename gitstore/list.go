package gitstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// List returns the newest snapshot of each session, sorted by name. It omits sessions that cannot be read, and returns their
// errors, joined, together with the list.
func (s *Store) List(ctx context.Context) ([]domarkx.Info, error) {
	_, infos, err := s.list(ctx)
	return slices.Clone(infos), err
}

// list returns the result of [Store.List], which is not to be changed, and the references that it was read from.
func (s *Store) list(ctx context.Context) (*refdb.Listing, []domarkx.Info, error) {
	cached := sync.OnceValue(func() (infos []domarkx.Info) {
		if content, ok := derived.Sessions.Read(s.StateDir()); ok {
			infos = decodeListCache(content)
		}
		return infos
	})
	last := s.listed.Load()
	if last == nil {
		go cached() // for many sessions it takes as long as reading the references
	}
	refs, err := s.refs.Listing(refname.Sessions.Prefix)
	if err != nil {
		return nil, nil, err
	}
	if last != nil && last.of == refs {
		return refs, last.infos, nil
	}
	known := cached()
	if len(refs.Damaged()) == 0 && setNames(known, refs.Refs) {
		s.listed.Store(&listed{refs, known})
		return refs, known, nil
	}
	byID := make(map[string]domarkx.Info, len(known))
	for _, info := range known {
		byID[info.ID] = info
	}
	find := func(id string) (domarkx.Info, bool) { info, ok := byID[id]; return info, ok }
	read := func(id string) (domarkx.Info, error) { return s.Info(ctx, id) }
	infos, isStale, err := tips(ctx, s, refname.Sessions, refs.Refs, find, read, func(info *domarkx.Info, name string) { info.Name = name })
	slices.SortFunc(infos, func(a, b domarkx.Info) int { return strings.Compare(a.Name, b.Name) })
	if isStale {
		_ = derived.Sessions.Write(s.StateDir(), encodeListCache(infos)) // the repository may be read-only
	}
	for _, d := range refs.Damaged() {
		damaged := error(d)
		if errors.Is(d, domarkx.ErrCorrupt) {
			damaged = fmt.Errorf("%w; git domarkx fsck says what helps", d)
		}
		err = errors.Join(err, damaged)
	}
	if err == nil {
		s.listed.Store(&listed{refs, infos})
	}
	return refs, infos, err
}

// ListAbout is like [Store.List], and also describes each session. about reads that of a session for which
// it is not in the cache; where it fails, there is none. The list is not to be changed.
func (s *Store) ListAbout(ctx context.Context, about func(ctx context.Context, info domarkx.Info) (*domarkx.About, error)) ([]domarkx.Info, error) {
	refs, infos, err := s.list(ctx)
	missed, isOwn := 0, false
	for i := range infos {
		if infos[i].About != nil {
			continue
		}
		if !isOwn {
			infos, isOwn = slices.Clone(infos), true
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		said, err := about(ctx, infos[i])
		if err == nil {
			infos[i].About = said
			missed++
		}
	}
	const often = 8 // reading so many costs less than writing the cache
	if missed > often+len(infos)/1000 {
		_ = derived.Sessions.Write(s.StateDir(), encodeListCache(infos)) // the repository may be read-only
	}
	if err == nil && missed > 0 {
		s.listed.Store(&listed{refs, infos})
	}
	return infos, err
}

// A listed is the result of [Store.List] for a list of references.
type listed struct {
	of    *refdb.Listing
	infos []domarkx.Info
}

// ListBelow returns the newest snapshots of the sessions whose names begin with prefix, like [Store.List]. While no
// reference changes, it costs no more than those sessions.
func (s *Store) ListBelow(ctx context.Context, prefix string) ([]domarkx.Info, error) {
	refs, err := s.refs.Listing(refname.Sessions.Prefix)
	if err != nil {
		return nil, err
	}
	var all []domarkx.Info
	if last := s.listed.Load(); last != nil && last.of == refs {
		all = last.infos
	} else if all, err = s.List(ctx); all == nil {
		return nil, err
	}
	start, _ := slices.BinarySearchFunc(all, prefix, func(i domarkx.Info, prefix string) int { return strings.Compare(i.Name, prefix) })
	end := start
	for end < len(all) && strings.HasPrefix(all[end].Name, prefix) {
		end++
	}
	return slices.Clone(all[start:end]), nil
}

// HasSession reports whether there is a session with this name. It costs the same with any number of sessions, and does not read
// the snapshot, which may be damaged.
func (s *Store) HasSession(name string) (bool, error) {
	_, ok, err := s.refs.Read(refname.Sessions.Ref(name))
	return ok, err
}

// Refs returns the ids of the sessions' refs, by the names of the sessions. It does not read the snapshots, which may be
// damaged.
func (s *Store) Refs() (map[string]string, error) {
	refs, err := s.refs.List(refname.Sessions.Prefix)
	ids := make(map[string]string, len(refs))
	for _, ref := range refs {
		ids[refname.Sessions.Name(ref.Name)] = ref.ID
	}
	return ids, err
}

// Damaged returns the names of the sessions whose refs name no object.
func (s *Store) Damaged() (names []string, err error) {
	damaged, err := s.refs.Damaged(refname.Sessions.Prefix)
	for _, d := range damaged {
		names = append(names, refname.Sessions.Name(d.Name))
	}
	return names, err
}

// tips returns the tip of each ref of a kind, from a cache (find) or from the commit (read). isStale reports whether so many
// tips were not in the cache that it should be written again. tips omits refs that cannot be read, and returns their errors,
// joined.
func tips[T any](ctx context.Context, s *Store, kind refname.Kind, refs []refdb.Ref, find func(id string) (T, bool), read func(id string) (T, error), setName func(tip *T, name string)) (all []T, isStale bool, err error) {
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
	domarkx.Info           // the tip that it had when it was removed
	Ref          string    // its ref in the trash
	At           time.Time // when it was removed, in UTC
}

// Trash returns the sessions in the trash, sorted by name and time. It omits sessions that cannot be read, and returns their
// errors, joined, together with the list.
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
		return cmp.Or(strings.Compare(a.Name, b.Name), a.At.Compare(b.At))
	})
	return removed, errors.Join(errs...)
}

// Trashed returns the tips of the sessions or workspaces with that name in the trash, as ids of their commits, in the order of their
// removal.
func (s *Store) Trashed(k refname.Kind, name string) ([]string, error) {
	refs, err := s.refs.List(k.Trash + name + "@")
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, ref := range refs { // sorted by name, which ends in the time
		if n, _, err := k.ParseTrash(ref.Name); err == nil && n == name {
			ids = append(ids, ref.ID)
		}
	}
	return ids, nil
}
