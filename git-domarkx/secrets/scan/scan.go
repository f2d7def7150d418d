// Package scan searches sessions for secrets: all snapshots in their histories, and the versions of
// workspaces that belong to them.
package scan

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/gitstore"
)

// A Finding is a secret in a session.
type Finding struct {
	Session string
	Message int // index of the message; -1 for none
	Where   string
	row
}

// A Manager scans the sessions of a repository. Its methods are safe for concurrent use.
type Manager struct {
	store *gitstore.Store
	env   local.Environment

	opening sync.Mutex
	scanner *secrets.Scanner // nil before the first use
	cache   *cache
	ignore  ignored
	whole   sync.Mutex // held while a large container is in memory
}

// New returns a manager. It does no input or output: rules and caches are read when they are first
// needed.
func New(store *gitstore.Store, env local.Environment) *Manager {
	return &Manager{store: store, env: env}
}

// keyKey and allowedKey are the keys of the local state for the key of fingerprints and for the
// allowed fingerprints.
const (
	keyKey     = "scan-key"
	allowedKey = "scan-allowed"
)

// Scanner returns a scanner with the rules of the repository's work tree and this machine's key for
// fingerprints.
func (m *Manager) Scanner(ctx context.Context) (*secrets.Scanner, error) {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.scanner != nil { // after an error, such as that of an ended context, the next call tries again
		return m.scanner, nil
	}
	key, err := m.key(ctx)
	if err != nil {
		return nil, err
	}
	extra, ignore, err := m.repositoryRules(ctx)
	if err != nil {
		return nil, err
	}
	m.scanner, m.ignore = secrets.New(key, extra), ignore
	m.cache = openCache(m.env.StateDir, m.scanner.Version(), key)
	return m.scanner, nil
}

// key returns the key for fingerprints. It creates the key on first use.
func (m *Manager) key(ctx context.Context) ([]byte, error) {
	values, err := m.env.Local.All(ctx, keyKey)
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		var fresh [16]byte
		rand.Read(fresh[:]) //nolint:errcheck // it never fails
		values = []string{hex.EncodeToString(fresh[:])}
		err := m.env.Local.Change(ctx, keyKey, func(old []string) []string {
			if len(old) > 0 { // another process has created it
				values = old
			}
			return values
		})
		if err != nil {
			m.warn(fmt.Errorf("warning: fingerprints are not those of other runs: %w", err))
		}
	}
	return []byte(values[0]), nil
}

func (m *Manager) warn(err error) {
	if m.env.Warn != nil {
		m.env.Warn(err)
	}
}

// Allowed returns the fingerprints of the secrets that the user allowed on this machine.
func (m *Manager) Allowed(ctx context.Context) ([]string, error) {
	return m.env.Local.All(ctx, allowedKey)
}

// Allow allows secrets by their fingerprints, or revokes that if allow is false. The error matches
// [domarkx.ErrInvalid] if a fingerprint is not valid.
func (m *Manager) Allow(ctx context.Context, fingerprints []string, allow bool) error {
	for _, f := range fingerprints {
		if len(f) != 20 || strings.Trim(f, "0123456789abcdef") != "" {
			return fmt.Errorf("fingerprint %q: %w, expected 20 hexadecimal digits; git domarkx scan lists them", f, domarkx.ErrInvalid)
		}
	}
	return m.env.Local.Change(ctx, allowedKey, func(values []string) []string {
		values = slices.DeleteFunc(values, func(v string) bool { return slices.Contains(fingerprints, v) })
		if allow {
			values = append(values, fingerprints...)
		}
		return values
	})
}

// Without returns the findings without those that the user allowed.
func (m *Manager) Without(ctx context.Context, found []Finding) ([]Finding, error) {
	if len(found) == 0 {
		return nil, nil
	}
	allowed, err := m.Allowed(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return slices.Contains(allowed, f.Fingerprint) }), nil
}

// Session returns the secrets in all that is outgoing, whatever the remote has.
func (m *Manager) Session(ctx context.Context, out transfer.Outgoing, progress func(done, total int)) ([]Finding, error) {
	scanner, err := m.Scanner(ctx)
	if err != nil {
		return nil, err
	}
	tips, rows := m.cache.tipsOf(out.Session)
	if !slices.Equal(tips, out.Tips) {
		within := false
		if len(tips) > 0 {
			if within, err = m.store.Reach(ctx, out.Tips, tips); err != nil {
				return nil, err
			}
		}
		if !within { // rewritten
			tips, rows = nil, nil
		}
		fresh, err := m.rows(ctx, out.Tips, tips, nil, progress)
		if err != nil {
			return nil, err
		}
		rows = append(fresh, rows...)
		if err := m.cache.keep(out.Session, out.Tips, rows); err != nil {
			m.warn(fmt.Errorf("warning: remember what was scanned: %w", err))
		}
	}
	found, err := m.findings(ctx, out.Session, out.Tips[0], rows)
	return append(found, named(scanner, out)...), err
}

// named returns the secrets in the names of a session and of its workspaces.
func named(scanner *secrets.Scanner, out transfer.Outgoing) []Finding {
	var all []Finding
	add := func(name, where string) {
		for _, f := range scanner.Text([]byte(name)) {
			all = append(all, Finding{out.Session, -1, where, row{hit: hit{Rule: f.Rule, Masked: f.Masked, Fingerprint: f.Fingerprint}}})
		}
	}
	add(out.Session, "name")
	for _, workspace := range out.Workspaces {
		if workspace != out.Session {
			add(workspace, "name of a workspace")
		}
	}
	return all
}

// Unsent returns the outgoing secrets, without those that the user allowed.
func (m *Manager) Unsent(ctx context.Context, out transfer.Outgoing) ([]Finding, error) {
	scanner, err := m.Scanner(ctx)
	if err != nil {
		return nil, err
	}
	found := []Finding{}
	if tips, rows := m.cache.tipsOf(out.Session); !slices.Equal(tips, out.Tips) || len(rows) > 0 { // otherwise nothing was found in any of it
		if rows, err = m.rows(ctx, out.Tips, out.Known, nil, nil); err != nil {
			return nil, err
		}
		if found, err = m.findings(ctx, out.Session, out.Tips[0], rows); err != nil {
			return nil, err
		}
	}
	return m.Without(ctx, append(found, named(scanner, out)...))
}

// A Gate keeps back the sessions of a push in which secrets are found, and keeps the findings.
type Gate struct {
	Manager *Manager
	Found   []Finding
}

// Inspect implements [transfer.Inspector].
func (g *Gate) Inspect(ctx context.Context, out transfer.Outgoing) (ok bool, err error) {
	found, err := g.Manager.Unsent(ctx, out)
	g.Found = append(g.Found, found...)
	return len(found) == 0, err
}

// A place identifies a secret at a place, independent of the snapshot.
type place struct {
	message            int
	where, fingerprint string
}

// findings returns the findings for rows. If several snapshots contain a secret at the same place,
// it is reported once, for the newest snapshot. Secrets in the bytes of an author are omitted if
// the message contains them, as are those in descriptions of snapshots that repeat the first one.
func (m *Manager) findings(ctx context.Context, name, tip string, rows []row) ([]Finding, error) {
	seen := map[place]bool{}
	inFiles := map[string]bool{}
	for _, r := range rows {
		inFiles[r.Fingerprint] = inFiles[r.Fingerprint] || r.Path != ""
	}
	found := make([]Finding, 0, len(rows))
	for _, r := range rows {
		f := describe(name, r)
		any := place{f.Message, "", r.Fingerprint}
		key := place{f.Message, f.Where, r.Fingerprint}
		repeats := f.Message >= 0 && strings.HasSuffix(r.Path, ".md") && seen[any] || r.Path == "" && inFiles[r.Fingerprint]
		if seen[key] || repeats || m.ignore.has(f) {
			continue
		}
		seen[key], seen[any] = true, true
		if err := m.since(ctx, tip, &f); err != nil {
			return nil, err
		}
		f.Where = secrets.Mask(f.Where, m.scanner.Text([]byte(f.Where)), 0) // such as in the name of a file
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(uint(a.Message), uint(b.Message)) })
	return found, nil
}

// QuickBytes is the maximum number of bytes that [Manager.Fresh] scans, so that storing stays fast:
// scanning takes longer than importing, and a push scans everything.
const QuickBytes = 16 << 20

// Prepare starts to compile the rules in the background. The returned function waits until they are
// compiled.
func (m *Manager) Prepare(ctx context.Context) (wait func()) {
	var group sync.WaitGroup
	group.Go(func() {
		if s, err := m.Scanner(ctx); err == nil { // the scan reports the error
			s.Text(nil)
		}
	})
	return group.Wait
}

// Fresh returns the number of different secrets, without the allowed ones, in the commits that tips
// reach and known does not. more reports whether it omitted content because of [QuickBytes]. It
// does not scan originals, because they repeat the messages.
func (m *Manager) Fresh(ctx context.Context, tips, known []string) (n int, more bool, err error) {
	if _, err := m.Scanner(ctx); err != nil {
		return 0, false, err
	}
	quick := &limit{}
	quick.left.Store(QuickBytes)
	rows, err := m.rows(ctx, tips, known, quick, nil)
	if err != nil {
		return 0, false, err
	}
	allowed, err := m.Allowed(ctx)
	if err != nil {
		return 0, false, err
	}
	different := map[string]bool{}
	for _, r := range rows {
		if !slices.Contains(allowed, r.Fingerprint) {
			different[r.Fingerprint] = true
		}
	}
	return len(different), quick.short.Load(), nil
}
