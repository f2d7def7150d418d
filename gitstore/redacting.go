package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// Files in the state directory.
const (
	redactingName = "redacting.json" // a redaction that is not finished
	replacedName  = "replaced"       // the commits that redactions have replaced, each with its replacement
	leasesName    = "leases.json"    // a [Lease] for each remote-tracking ref that was redacted
)

// A Redaction replaces commits by redacted ones. All commits are hexadecimal ids.
type Redaction struct {
	Moves    map[string]string // refs of [Store.References] → their new commits
	Replaced map[string]string // replaced commits → the commits that replace them
	Keep     bool              // whether refs keep the replaced histories
	Remotes  map[string]string // remote-tracking refs → commits that the remotes have, where these differ from Leases

	// Clear removes the texts of replaced commits from derived files. It is called after the refs have moved; nil removes the
	// files instead. If the process is killed before Clear returns, the next command removes the files.
	Clear func(ctx context.Context) error
}

// redacting is the content of the file redactingName.
type redacting struct {
	Before   map[string]string `json:"before"` // the moved refs → their former commits
	Replaced map[string]string `json:"replaced"`
}

// Redact is like [Store.Update], but for a redaction: fn stores the redacted commits and returns the changes. All refs move, or
// none. Then Redact removes the replaced commits from reflogs, and their texts from caches. If the process is killed before that
// is done, the next command does it. Redact returns the refs that keep the replaced histories, if Keep is set.
func (s *Store) Redact(ctx context.Context, reason string, fn func(*Tx) (Redaction, error)) (kept []string, err error) {
	var clearCaches func(context.Context) error
	err = s.Update(ctx, reason, func(tx *Tx) error {
		r, err := fn(tx)
		if err != nil || len(r.Moves) == 0 {
			return err
		}
		clearCaches = r.Clear
		now := redacting{Before: map[string]string{}, Replaced: r.Replaced}
		leases, err := s.Leases()
		if err != nil {
			return err
		}
		for ref, id := range r.Moves {
			if now.Before[ref], err = tx.ref(ref); err != nil {
				return err
			}
			if strings.HasPrefix(ref, refname.RemotePrefix) {
				at := cmp.Or(r.Remotes[ref], leases.Remote(ref, now.Before[ref]))
				leases[ref] = Lease{At: id, Remote: at}
			}
		}
		if kept, err = tx.Redact(ctx, r.Moves, r.Keep); err != nil {
			return err
		}
		return errors.Join(s.writeState(leasesName, leases), s.writeState(redactingName, now))
	})
	if err != nil {
		return nil, err
	}
	return kept, s.finishRedaction(context.WithoutCancel(ctx), clearCaches)
}

func (s *Store) writeState(name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(filepath.Join(s.StateDir(), name), append(data, '\n')); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// readState reads what writeState stored, and reports whether it did.
func (s *Store) readState(name string, v any) (bool, error) {
	data, err := os.ReadFile(filepath.Join(s.StateDir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", name, err)
	}
	return true, nil
}

// finishRedaction clears reflogs and derived files of replaced commits, if there is an unfinished redaction whose refs have moved.
// clear removes the texts from derived files; if it is nil, finishRedaction removes the files.
func (s *Store) finishRedaction(ctx context.Context, clear func(context.Context) error) error {
	path := filepath.Join(s.StateDir(), redactingName)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := s.refs.Lock(ctx)
	if err != nil {
		return err
	}
	r, err := s.clearReplaced(path)
	if err = errors.Join(err, release()); err != nil || r == nil {
		return err
	}
	if clear == nil {
		err = derived.RemoveTexts(s.StateDir())
	} else {
		err = clear(ctx)
	}
	if err != nil {
		return err
	}
	if err := atomicfile.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// clearReplaced clears reflogs. It returns the redaction, whose texts are to be removed from derived files, or nil if there is
// no unfinished redaction. The caller holds the repository's lock.
func (s *Store) clearReplaced(path string) (*redacting, error) {
	r, moved, err := s.unfinished()
	switch {
	case err != nil || r == nil:
		return nil, err
	case !moved:
		return nil, os.Remove(path) // the process was killed before the refs moved
	}
	if err := s.addReplacements(r.Replaced); err != nil {
		return nil, err
	}
	if err := s.refs.Forget(slices.Sorted(maps.Keys(r.Before))...); err != nil {
		return nil, err
	}
	return r, s.refs.ForgetValues(func(id string) bool { _, ok := r.Replaced[id]; return ok }, refname.Prefixes()...)
}

// unfinished returns the redaction that is not finished, or nil, and whether its refs have moved.
func (s *Store) unfinished() (_ *redacting, moved bool, err error) {
	var r redacting
	if found, err := s.readState(redactingName, &r); !found || err != nil {
		return nil, false, err
	}
	for ref, old := range r.Before {
		if now, _, err := s.refs.Read(ref); err != nil || now == old {
			return &r, false, err
		}
	}
	return &r, true, nil
}

// RewriteReasons replaces the reasons in the reflogs of this program's refs. rewrite returns the new reason, and whether it
// differs. In a repository with the reftable backend the line is removed. It is called during an update.
func (s *Store) RewriteReasons(rewrite func(reason string) (string, bool)) error {
	return s.refs.RewriteReasons(rewrite)
}

// Replacements returns the commits that redactions in this repository have replaced, as keys, with the commits that replace
// them. It is nil if there are none. Those of a redaction that has moved its refs and waits for the lock to finish count.
func (s *Store) Replacements() (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(s.StateDir(), replacedName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r, moved, err := s.unfinished()
	if err != nil || len(data) == 0 && !moved {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if old, now, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			all[old] = now
		}
	}
	if moved {
		maps.Copy(all, r.Replaced)
	}
	return all, nil
}

// HasReplacements reports whether a redaction has replaced commits in this repository, or [Store.NoteRedacted] was called.
func (s *Store) HasReplacements() bool {
	_, err := os.Lstat(filepath.Join(s.StateDir(), replacedName))
	return err == nil
}

// NoteRedacted records that the repository has redacted commits of others, for example after a pull.
func (s *Store) NoteRedacted() error {
	if s.HasReplacements() {
		return nil
	}
	return s.addReplacements(nil)
}

func (s *Store) addReplacements(more map[string]string) error {
	all, err := s.Replacements()
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, more)
	for _, now := range more { // it may have been replaced before, and is in use again
		delete(all, now)
	}
	var lines bytes.Buffer
	for _, old := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&lines, "%s %s\n", old, all[old])
	}
	return atomicfile.Replace(filepath.Join(s.StateDir(), replacedName), lines.Bytes())
}

// A Lease records the commit that a remote has for a remote-tracking ref that a redaction has moved here. A push expects it there
// (git-push(1), --force-with-lease).
type Lease struct {
	At     string `json:"at"`     // the redacted commit of the tracking ref
	Remote string `json:"remote"` // the commit that the remote has
}

// Leases contains leases by remote-tracking ref.
type Leases map[string]Lease

// Remote returns the commit that the remote has if the tracking ref is at id: that of the lease if there is one for id,
// otherwise id.
func (l Leases) Remote(ref, id string) string {
	if lease, ok := l[ref]; ok && lease.At == id {
		return lease.Remote
	}
	return id
}

// Leases returns all recorded leases.
func (s *Store) Leases() (Leases, error) {
	leases := Leases{}
	_, err := s.readState(leasesName, &leases)
	return leases, err
}

// EndLeases removes the leases of remote-tracking refs. It is called after their refs were pushed, or fetched without a change.
func (s *Store) EndLeases(tracking []string) error {
	leases, err := s.Leases()
	if err != nil || len(leases) == 0 {
		return err
	}
	before := len(leases)
	for _, ref := range tracking {
		delete(leases, ref)
	}
	if len(leases) == before {
		return nil
	}
	return s.writeState(leasesName, leases)
}
