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
	"github.com/domarkx/domarkx/gitstore/refname"
)

// Files in the state directory.
const (
	redactingName = "redacting.json" // a redaction that is not finished
	replacedName  = "replaced"       // the commits that redactions replaced
	leasesName    = "leases.json"    // what remotes have where the tracking refs were redacted
)

// A Redaction replaces commits by redacted ones.
type Redaction struct {
	Moves    map[string]string // refs of [Store.References] and their new commits
	Replaced map[string]string // every replaced commit and the one in its place
	Keep     bool              // whether the replaced histories go to the trash
	Remotes  map[string]string // what remotes have, by tracking ref, if the lease does not say it

	// Caches are patterns of files in the state directory that may hold texts of replaced commits. Clear is called after the
	// refs have moved, and removes the texts. If the process is killed before it returns, the files are removed.
	Caches []string
	Clear  func(ctx context.Context) error
}

// redacting is the content of the file of an unfinished redaction.
type redacting struct {
	Before   map[string]string `json:"before"` // the refs with their former commits
	Replaced map[string]string `json:"replaced"`
	Caches   []string          `json:"caches,omitempty"`
}

// Redact is [Store.Update] for a redaction: fn stores the commits and returns the changes. The refs
// move together. Then nothing but the trash leads to the replaced commits: neither reflogs nor caches.
// If the process is killed between, the next command does the rest. It returns the refs in the trash.
func (s *Store) Redact(ctx context.Context, reason string, fn func(*Tx) (Redaction, error)) (kept []string, err error) {
	var clearCaches func(context.Context) error
	err = s.Update(ctx, reason, func(tx *Tx) error {
		r, err := fn(tx)
		if err != nil || len(r.Moves) == 0 {
			return err
		}
		clearCaches = r.Clear
		now := redacting{Before: map[string]string{}, Replaced: r.Replaced, Caches: r.Caches}
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

// finishRedaction clears reflogs and caches of replaced commits, if the refs of an unfinished redaction
// have moved. clear removes the texts from the caches; without it, the files are removed.
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
		err = s.removeCaches(r.Caches)
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

// clearReplaced clears reflogs and the store's own caches, and returns what remains to be done, nil for nothing. The caller has the lock.
func (s *Store) clearReplaced(path string) (*redacting, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // another process was faster
	}
	if err != nil {
		return nil, err
	}
	var r redacting
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", redactingName, err)
	}
	for ref, old := range r.Before {
		if now, _, err := s.refs.Read(ref); err != nil {
			return nil, err
		} else if now == old {
			return nil, os.Remove(path) // the refs did not move
		}
	}
	if err := s.addReplacements(r.Replaced); err != nil {
		return nil, err
	}
	if err := s.removeCaches([]string{listCacheName, conflictCacheName, versionCacheName}); err != nil {
		return nil, err
	}
	if err := s.refs.Forget(slices.Sorted(maps.Keys(r.Before))...); err != nil {
		return nil, err
	}
	var prefixes []string
	for _, k := range refname.Kinds {
		prefixes = append(prefixes, k.Prefix, k.Trash)
	}
	return &r, s.refs.ForgetValues(func(id string) bool { _, ok := r.Replaced[id]; return ok }, append(prefixes, refname.RemotePrefix)...)
}

// removeCaches removes files in the state directory that match patterns.
func (s *Store) removeCaches(patterns []string) error {
	var errs []error
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(s.StateDir(), filepath.FromSlash(pattern)))
		errs = append(errs, err)
		for _, path := range paths {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// Replacements returns the commits that redactions replaced on this machine, each with the one in its
// place.
func (s *Store) Replacements() (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(s.StateDir(), replacedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if old, now, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			all[old] = now
		}
	}
	return all, nil
}

// HasReplacements reports whether a redaction has replaced anything on this machine, or redacted commits were pulled.
func (s *Store) HasReplacements() bool {
	_, err := os.Lstat(filepath.Join(s.StateDir(), replacedName))
	return err == nil
}

// NoteRedacted records that the repository has redacted commits, as [Store.HasReplacements] reports from then on.
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
	var lines bytes.Buffer
	for _, old := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&lines, "%s %s\n", old, all[old])
	}
	return atomicfile.Replace(filepath.Join(s.StateDir(), replacedName), lines.Bytes())
}

// A Lease is the state of a remote's ref whose tracking ref was redacted.
type Lease struct {
	At     string `json:"at"`     // the tracking ref's commit
	Remote string `json:"remote"` // the commit that the remote has
}

// Leases are the states of remotes' refs, by tracking ref.
type Leases map[string]Lease

// Remote returns the commit that a remote has, for the commit at a tracking ref.
func (l Leases) Remote(ref, id string) string {
	if lease, ok := l[ref]; ok && lease.At == id {
		return lease.Remote
	}
	return id
}

// Leases returns what remotes have where the tracking refs were redacted.
func (s *Store) Leases() (Leases, error) {
	data, err := os.ReadFile(filepath.Join(s.StateDir(), leasesName))
	if errors.Is(err, fs.ErrNotExist) {
		return Leases{}, nil
	}
	leases := Leases{}
	if err == nil {
		err = json.Unmarshal(data, &leases)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", leasesName, err)
	}
	return leases, nil
}

// EndLeases forgets what remotes had before refs were sent.
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
