//go:build unix

// Package storetest is a store of sessions for tests of the mount. It stores plain files
// in a directory, which several processes can share. Its merge is simple, so that tests
// can predict the result.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/fusefs/sessions"
)

// A Store stores sessions in a directory.
type Store struct {
	dir string
}

// Broken is a text that makes a document invalid.
const Broken = "BROKEN"

// Full is the name of a file in the store's directory. While it exists, saves fail with
// ENOSPC.
const Full = "full"

// A Snapshot is a stored snapshot with the ids of its parents.
type Snapshot struct {
	domarkx.Info
	Parents []string
}

// New returns the store in a directory, which it creates if needed.
func New(dir string) (*Store, error) {
	for _, sub := range []string{"objects", "sessions", "trash"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	return &Store{dir}, nil
}

func escape(name string) string { return strings.ReplaceAll(name, "/", "%") }

func (s *Store) tipFile(name string) string { return filepath.Join(s.dir, "sessions", escape(name)) }

// lock locks the store against changes by other processes, until unlock is called.
func (s *Store) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

func (s *Store) snapshot(id string) (Snapshot, error) {
	var snap Snapshot
	data, err := os.ReadFile(filepath.Join(s.dir, "objects", id+".json"))
	if err != nil {
		return snap, err
	}
	return snap, json.Unmarshal(data, &snap)
}

// Info implements [sessions.Sessions].
func (s *Store) Info(_ context.Context, name string) (domarkx.Info, error) {
	id, err := os.ReadFile(s.tipFile(name))
	if errors.Is(err, fs.ErrNotExist) || len(name) > 200 {
		return domarkx.Info{}, fmt.Errorf("session %q: %w", name, domarkx.ErrNotFound)
	}
	if err != nil {
		return domarkx.Info{}, err
	}
	snap, err := s.snapshot(string(id))
	snap.Name = name
	return snap.Info, err
}

// List implements [sessions.Sessions].
func (s *Store) List(ctx context.Context, prefix string) ([]domarkx.Info, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "sessions"))
	if err != nil {
		return nil, err
	}
	var all []domarkx.Info
	for _, e := range entries {
		name := strings.ReplaceAll(e.Name(), "%", "/")
		if !strings.HasPrefix(name, prefix) || strings.HasPrefix(e.Name(), ".") {
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
	slices.SortFunc(all, func(a, b domarkx.Info) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// History implements [sessions.Snapshots].
func (s *Store) History(ctx context.Context, name string) ([]domarkx.Info, error) {
	tip, err := s.Info(ctx, name)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var all []domarkx.Info
	var walk func(id string) error
	walk = func(id string) error {
		if seen[id] {
			return nil
		}
		seen[id] = true
		snap, err := s.snapshot(id)
		if err != nil {
			return err
		}
		for _, parent := range snap.Parents {
			if err := walk(parent); err != nil {
				return err
			}
		}
		all = append(all, snap.Info)
		return nil
	}
	return all, walk(tip.ID)
}

// Markdown implements [sessions.Snapshots].
func (s *Store) Markdown(_ context.Context, id string) ([]byte, error) {
	return os.ReadFile(filepath.Join(s.dir, "objects", id))
}

// CheckName implements [sessions.Names].
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
	snap := Snapshot{Parents: parents}
	for _, p := range parents {
		parent, err := s.snapshot(p)
		if err != nil {
			return domarkx.Info{}, err
		}
		snap.Number = max(snap.Number, parent.Number)
	}
	snap.Number++
	sum := sha1.Sum(fmt.Appendf(nil, "%s\n%q\n%d\n%s", name, parents, time.Now().UnixNano(), data))
	snap.ID, snap.Name, snap.Bytes = hex.EncodeToString(sum[:]), name, int64(len(data))
	snap.Date, snap.Messages = time.Now().Unix(), len(roles(data))
	if err := writeFile(filepath.Join(s.dir, "objects", snap.ID), data); err != nil {
		return snap.Info, err
	}
	object, err := json.Marshal(snap)
	if err != nil {
		return snap.Info, err
	}
	return snap.Info, writeFile(filepath.Join(s.dir, "objects", snap.ID+".json"), object)
}

// writeFile replaces a file atomically.
func writeFile(path string, data []byte) error {
	tmp := filepath.Join(filepath.Dir(path), ".tmp-"+filepath.Base(path))
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

func (s *Store) set(name, id string) error { return writeFile(s.tipFile(name), []byte(id)) }

// Save implements [sessions.Saver].
func (s *Store) Save(ctx context.Context, name, base string, data []byte) (sessions.SaveResult, error) {
	unlock, err := s.lock()
	if err != nil {
		return sessions.SaveResult{}, err
	}
	defer unlock()
	if _, err := os.Stat(filepath.Join(s.dir, Full)); err == nil {
		return sessions.SaveResult{}, fmt.Errorf("writing an object: %w", unix.ENOSPC)
	}
	if i := bytes.Index(data, []byte(Broken)); i >= 0 {
		line, column := syntax.Position(data, i)
		return sessions.SaveResult{}, &syntax.Error{Path: name + ".md", Line: line, Column: column, Msg: "it is broken, expected something else"}
	}
	var was []byte
	var parents []string
	if base != "" {
		if was, err = s.Markdown(ctx, base); err != nil {
			return sessions.SaveResult{}, err
		}
		parents = []string{base}
	}
	tip, err := s.Info(ctx, name)
	gone := errors.Is(err, domarkx.ErrNotFound)
	if err != nil && !gone {
		return sessions.SaveResult{}, err
	}
	if base != "" && bytes.Equal(was, data) && !gone {
		return sessions.SaveResult{Info: tip, Saved: base, Merged: tip.ID != base}, nil
	}
	own, err := s.commit(name, data, parents...)
	if err != nil {
		return sessions.SaveResult{}, err
	}
	r := sessions.SaveResult{Info: own, Saved: own.ID}
	if !gone && tip.ID != base {
		theirs, err := s.Markdown(ctx, tip.ID)
		if err != nil {
			return r, err
		}
		if r.Info, err = s.commit(name, Merge(was, theirs, data), tip.ID, own.ID); err != nil {
			return r, err
		}
		r.Merged = true
	}
	return r, s.set(name, r.Info.ID)
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
func (s *Store) Settle(context.Context) error {
	unlock, err := s.lock()
	if err == nil {
		unlock()
	}
	return err
}

// Remove implements [sessions.Saver].
func (s *Store) Remove(_ context.Context, name string) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	err = os.Rename(s.tipFile(name), filepath.Join(s.dir, "trash", escape(name)))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("session %q: %w", name, domarkx.ErrNotFound)
	}
	return err
}

// Rename implements [sessions.Saver].
func (s *Store) Rename(_ context.Context, from, to string) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(s.tipFile(to)); err == nil {
		return fmt.Errorf("session %q: %w", to, domarkx.ErrExists)
	}
	err = os.Rename(s.tipFile(from), s.tipFile(to))
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("session %q: %w", from, domarkx.ErrNotFound)
	}
	return err
}

// Trash returns the names of the sessions that were removed.
func (s *Store) Trash() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "trash"))
	var names []string
	for _, e := range entries {
		names = append(names, strings.ReplaceAll(e.Name(), "%", "/"))
	}
	return names, err
}

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
