//go:build unix

package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A Store stores sessions. Its merge is simple, so that tests can predict the result.
type Store struct{ directory }

// Broken is a text that makes a document invalid.
const Broken = "BROKEN"

// Full is the name of a file in the store's directory. While it exists, saves fail with
// ENOSPC.
const Full = "full"

// The kinds of values.
const (
	snapshots = "objects"
	tips      = "sessions"
	trash     = "trash"
)

// A snapshot is a document with its ancestors, parents before children.
type snapshot struct {
	domarkx.Info
	Before []domarkx.Info
	Data   []byte
	At     time.Time
}

// New returns the store in a directory, which it creates if needed.
func New(dir string) (*Store, error) {
	d, err := create(dir, snapshots, tips, trash)
	return &Store{d}, err
}

// locked changes the store while no other process does.
func (s *Store) locked(change func() error) error {
	f, err := os.OpenFile(s.path("", "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	return change()
}

func (s *Store) snapshot(id string) (snapshot, error) {
	var snap snapshot
	err := s.get(snapshots, id, &snap)
	snap.ID = id
	return snap, err
}

func (s *Store) tip(name string) (snapshot, error) {
	if len(name) > 200 {
		return snapshot{}, domarkx.ErrNotFound
	}
	id, err := s.text(tips, name)
	if err != nil {
		return snapshot{}, err
	}
	snap, err := s.snapshot(id)
	snap.Name = name
	return snap, err
}

// Info implements [sessions.Sessions].
func (s *Store) Info(_ context.Context, name string) (domarkx.Info, error) {
	snap, err := s.tip(name)
	return snap.Info, err
}

// List implements [sessions.Sessions].
func (s *Store) List(ctx context.Context, prefix string) ([]domarkx.Info, error) {
	names, err := s.names(tips)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var all []domarkx.Info
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		info, err := s.Info(ctx, name)
		if errors.Is(err, domarkx.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// History implements [sessions.Snapshots].
func (s *Store) History(_ context.Context, name string) ([]domarkx.Info, error) {
	snap, err := s.tip(name)
	if err != nil {
		return nil, err
	}
	return append(snap.Before, snap.Info), nil
}

// Markdown implements [sessions.Snapshots].
func (s *Store) Markdown(_ context.Context, id string) ([]byte, error) {
	snap, err := s.snapshot(id)
	return snap.Data, err
}

// CheckName implements [sessions.Saver].
func (s *Store) CheckName(ctx context.Context, name string) error {
	if len(name) > 200 || strings.ContainsAny(name, " @#~^:?*[\\%") || strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "-") {
		return fmt.Errorf("session name %q: %w", name, domarkx.ErrInvalid)
	}
	all, err := s.List(ctx, "")
	for _, o := range all {
		if strings.EqualFold(o.Name, name) || strings.HasPrefix(o.Name, name+"/") || strings.HasPrefix(name, o.Name+"/") {
			return fmt.Errorf("session name %q: %w: %q", name, domarkx.ErrExists, o.Name)
		}
	}
	return err
}

func (s *Store) commit(name string, data []byte, parents ...string) (domarkx.Info, error) {
	snap := snapshot{Data: data, At: time.Now()}
	for _, p := range parents {
		parent, err := s.snapshot(p)
		if err != nil {
			return domarkx.Info{}, err
		}
		for _, info := range append(parent.Before, parent.Info) {
			if !slices.ContainsFunc(snap.Before, func(known domarkx.Info) bool { return known.ID == info.ID }) {
				snap.Before = append(snap.Before, info)
			}
		}
		snap.Number = max(snap.Number, parent.Number)
	}
	snap.Number++
	snap.Name, snap.Bytes, snap.Date, snap.Messages = name, int64(len(data)), snap.At.Unix(), len(roles(data))
	id, err := s.put(snapshots, snap)
	snap.ID = id
	return snap.Info, err
}

// Save implements [sessions.Saver].
func (s *Store) Save(_ context.Context, name, base string, data []byte) (r sessions.SaveResult, err error) {
	err = s.locked(func() error {
		if _, err := os.Stat(s.path("", Full)); err == nil {
			return fmt.Errorf("writing an object: %w", unix.ENOSPC)
		}
		r, err = s.save(name, base, data)
		return err
	})
	return r, err
}

func (s *Store) save(name, base string, data []byte) (r sessions.SaveResult, err error) {
	if i := bytes.Index(data, []byte(Broken)); i >= 0 {
		line, column := syntax.Position(data, i)
		return r, &syntax.Error{Path: name + ".md", Line: line, Column: column, Msg: "it is broken, expected something else"}
	}
	var was snapshot
	var parents []string
	if base != "" {
		if was, err = s.snapshot(base); err != nil {
			return r, err
		}
		parents = []string{base}
	}
	tip, err := s.tip(name)
	gone := errors.Is(err, domarkx.ErrNotFound)
	if err != nil && !gone {
		return r, err
	}
	if base != "" && bytes.Equal(was.Data, data) && !gone {
		return sessions.SaveResult{Info: tip.Info, Saved: base, Merged: tip.ID != base}, nil
	}
	if r.Info, err = s.commit(name, data, parents...); err != nil {
		return r, err
	}
	r.Saved = r.Info.ID
	if r.Merged = !gone && tip.ID != base; r.Merged {
		if r.Info, err = s.commit(name, Merge(was.Data, tip.Data, data), tip.ID, r.Saved); err != nil {
			return r, err
		}
	}
	return r, s.set(tips, name, r.Info.ID)
}

// Merge returns theirs, followed by what ours has added to base, or by all of ours if
// that does not begin with base.
func Merge(base, theirs, ours []byte) []byte {
	rest, ok := bytes.CutPrefix(ours, base)
	if !ok {
		rest = ours
	}
	return slices.Concat(theirs, rest)
}

// Write creates a snapshot of a session that follows its newest one, like another
// process.
func (s *Store) Write(ctx context.Context, name, data string) (domarkx.Info, error) {
	tip, err := s.Info(ctx, name)
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return tip, err
	}
	r, err := s.Save(ctx, name, tip.ID, []byte(data))
	return r.Info, err
}

// Settle implements [sessions.Saver].
func (s *Store) Settle(context.Context) error { return s.locked(func() error { return nil }) }

// Remove implements [sessions.Saver].
func (s *Store) Remove(_ context.Context, name string) error {
	return s.locked(func() error { return found(os.Rename(s.path(tips, name), s.path(trash, name)), name) })
}

// Rename implements [sessions.Saver].
func (s *Store) Rename(_ context.Context, from, to string) error {
	return s.locked(func() error {
		if _, err := s.text(tips, to); err == nil {
			return fmt.Errorf("session %q: %w", to, domarkx.ErrExists)
		}
		return found(os.Rename(s.path(tips, from), s.path(tips, to)), from)
	})
}

// Trash returns the names of the sessions that were removed.
func (s *Store) Trash() ([]string, error) { return s.names(trash) }

// roles returns the role of each message of a document.
func roles(data []byte) []domarkx.Role {
	var all []domarkx.Role
	for line := range strings.Lines(string(data)) {
		if role, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "## "); ok {
			all = append(all, domarkx.Role(role))
		}
	}
	return all
}

// Roles returns the role of each message of a snapshot.
func (s *Store) Roles(ctx context.Context, id string) ([]domarkx.Role, error) {
	data, err := s.Markdown(ctx, id)
	return roles(data), err
}

// Message returns message k of a snapshot.
func (s *Store) Message(ctx context.Context, id string, k int) ([]byte, error) {
	data, err := s.Markdown(ctx, id)
	if err != nil {
		return nil, err
	}
	parts := strings.Split("\n"+string(data), "\n## ")
	if k+1 >= len(parts) {
		return nil, domarkx.ErrNotFound
	}
	return []byte("## " + parts[k+1] + "\n"), nil
}
