package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// UpToDate is the status of a session about which there was nothing to do.
const UpToDate = "up to date"

// An Exchange is what became of one session in a push, fetch or pull.
type Exchange struct {
	Name   string
	Status string // one word or a few; begins with "rejected" when nothing was sent
	Failed bool
}

// Fetch brings what a remote has without changing a session here. Without names
// it tells of all sessions.
func (m *SessionManager) Fetch(ctx context.Context, remote string, names []string, progress io.Writer) ([]Exchange, error) {
	before, after, err := m.store.Fetch(ctx, remote, progress)
	if err != nil {
		return nil, err
	}
	var told []Exchange
	for _, name := range chosen(names, before, after) {
		old, now := before[name], after[name]
		status := UpToDate
		switch {
		case now == "" && old == "":
			told = append(told, Exchange{name, "not there", true})
			continue
		case now == "":
			status = "removed there"
		case old == "":
			status = "new"
		case old != now:
			status = "updated"
		}
		told = append(told, Exchange{Name: name, Status: status})
	}
	return told, m.rememberRemoved(remote, before, after)
}

// chosen returns the names, or, without any, all those of the maps, sorted.
func chosen(names []string, tips ...map[string]string) []string {
	if len(names) > 0 {
		return names
	}
	all := map[string]bool{}
	for _, t := range tips {
		for name := range t {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Pull fetches, and takes over what the remote has: sessions that changed on
// both sides are merged. A session that was removed there and not changed here
// goes to the trash.
func (m *SessionManager) Pull(ctx context.Context, remote string, names []string, progress io.Writer) ([]Exchange, error) {
	before, after, err := m.store.Fetch(ctx, remote, progress)
	if err != nil {
		return nil, err
	}
	if err := m.recallRemoved(remote, before); err != nil {
		return nil, err
	}
	var told []Exchange
	for _, name := range chosen(names, before, after) {
		var status string
		err := m.update(ctx, "pull "+name, func(tx Tx) error {
			status, err = m.pullOne(ctx, tx, name, before[name], after[name])
			return err
		})
		if err != nil {
			if ctx.Err() != nil {
				return told, err
			}
			told = append(told, Exchange{name, "rejected: " + err.Error(), true})
			continue
		}
		told = append(told, Exchange{name, status, status == "not there"})
	}
	if len(names) > 0 { // what was removed of the others is for the next pull
		maps.DeleteFunc(before, func(name, _ string) bool { return slices.Contains(names, name) })
		return told, m.rememberRemoved(remote, before, after)
	}
	return told, m.rememberRemoved(remote, nil, after)
}

// pullOne brings one session up to what the remote has now; before is what it
// had when it was last heard of.
func (m *SessionManager) pullOne(ctx context.Context, tx Tx, name, before, now string) (string, error) {
	tip, err := tx.Tip(ctx, name)
	here := err == nil
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return "", err
	}
	switch {
	case now == "" && before == "":
		return "not there", nil
	case now == "" && here && tip.ID == before:
		return "removed there, moved to the trash", tx.ToTrash(ctx, name)
	case now == "" && here:
		return "removed there, kept: it changed here", nil
	case now == "":
		return "removed on both sides", nil
	case !here:
		if removed, err := m.removedHere(ctx, name, now); err != nil || removed {
			return "removed here", err
		}
		if err := tx.CheckName(ctx, name); err != nil {
			return "", err
		}
		return "new", m.accept(ctx, tx, name, now)
	case tip.ID == now:
		return UpToDate, nil
	}
	return m.pullChanged(ctx, tx, name, tip, now)
}

// removedHere reports whether the session was removed here, or renamed, when it
// held all that a snapshot holds.
func (m *SessionManager) removedHere(ctx context.Context, name, id string) (bool, error) {
	trashed, err := m.store.Trashed(ctx, name)
	if err != nil {
		return false, err
	}
	for _, gone := range trashed {
		if all, err := m.store.IsAncestor(ctx, id, gone); err != nil || all {
			return all, err
		}
	}
	return m.renamedHere(ctx, name, id)
}

// accept points a session at a snapshot that came from elsewhere, once it is
// known to be one that this program can read.
func (m *SessionManager) accept(ctx context.Context, tx Names, name, id string) error {
	if _, err := m.store.Load(ctx, id); err != nil {
		return err
	}
	return tx.Set(ctx, name, id)
}

func (m *SessionManager) pullChanged(ctx context.Context, tx Tx, name string, tip domarkx.Info, now string) (string, error) {
	behind, err := m.store.IsAncestor(ctx, tip.ID, now)
	if err != nil {
		return "", err
	}
	if behind {
		return "updated", m.accept(ctx, tx, name, now)
	}
	ahead, err := m.store.IsAncestor(ctx, now, tip.ID)
	if err != nil {
		return "", err
	}
	if ahead {
		return "ahead", nil
	}
	sides := [2]side{}
	for i, id := range []string{tip.ID, now} {
		if sides[i].info, err = m.store.Info(ctx, id); err != nil {
			return "", err
		}
		if sides[i].state, err = m.store.Load(ctx, id); err != nil {
			return "", err
		}
	}
	merged, err := m.merge(ctx, tx, sides[0], sides[1])
	if err != nil {
		return "", err
	}
	return "merged", tx.Set(ctx, name, merged.ID)
}

// Push sends sessions to a remote. Without names, those that the remote has and
// those that were pushed before; all sends every session. A session removed here
// is removed there.
func (m *SessionManager) Push(ctx context.Context, remote string, names []string, all bool, progress io.Writer) ([]Exchange, error) {
	tracked, err := m.store.Tracked(ctx, remote)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 && !all && len(tracked) == 0 {
		if _, tracked, err = m.store.Fetch(ctx, remote, progress); err != nil {
			return nil, err
		}
	}
	local, err := m.tips(ctx)
	if err != nil {
		return nil, err
	}
	var candidates []string
	switch {
	case len(names) > 0:
		candidates = names
	case all:
		candidates = chosen(nil, local, tracked)
	default:
		if candidates, err = m.withNewNames(chosen(nil, tracked), local); err != nil {
			return nil, err
		}
	}
	var told []Exchange
	tips := map[string]string{}
	for _, name := range candidates {
		e, send, err := m.pushable(ctx, name, local[name], tracked[name])
		if err != nil {
			return nil, err
		}
		if send {
			tips[name] = local[name]
			continue
		}
		told = append(told, e)
	}
	if slices.ContainsFunc(told, func(e Exchange) bool { return e.Failed }) {
		for name := range tips {
			told = append(told, Exchange{name, "not sent: another session was rejected", true})
		}
	} else if len(tips) > 0 {
		var statuses map[string]string
		statuses, err = m.store.Push(ctx, remote, tips, progress) // what is known of a push that broke off is told too
		for name, status := range statuses {
			told = append(told, Exchange{name, status, strings.HasPrefix(status, "rejected")})
		}
	}
	slices.SortFunc(told, func(a, b Exchange) int { return strings.Compare(a.Name, b.Name) })
	return told, err
}

// tips returns the ids of the newest snapshots by session, of those that can be
// read.
func (m *SessionManager) tips(ctx context.Context) (map[string]string, error) {
	here, err := m.store.List(ctx)
	if here == nil {
		return nil, err
	}
	tips := make(map[string]string, len(here))
	for _, info := range here {
		tips[info.Name] = info.ID
	}
	return tips, nil
}

// pushable reports whether a session can be sent without losing what the remote
// was last heard to have, and what to say of it when not.
func (m *SessionManager) pushable(ctx context.Context, name, local, tracked string) (Exchange, bool, error) {
	switch {
	case local == "" && tracked == "":
		return Exchange{}, false, fmt.Errorf("session %q: %w; git domarkx list shows those there are", name, domarkx.ErrNotFound)
	case local == tracked:
		return Exchange{Name: name, Status: UpToDate}, false, nil
	case tracked == "":
		return Exchange{}, true, nil
	case local == "":
		removed, err := m.removedHere(ctx, name, tracked)
		return Exchange{Name: name, Status: "only there"}, removed, err
	}
	forward, err := m.store.IsAncestor(ctx, tracked, local)
	if err != nil || forward {
		return Exchange{}, forward, err
	}
	return Exchange{name, "rejected: the remote has changes that are not here; run git domarkx pull first", true}, false, nil
}
