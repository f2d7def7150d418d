// Package scan looks for secrets in sessions: in every snapshot of their histories, and in the versions of workspaces that
// belong to them. Each blob is scanned once.
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

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/secrets"
	"github.com/domarkx/domarkx/gitstore"
)

// A Finding is a secret in a session.
type Finding struct {
	Session     string
	Message     int // -1 if it is in no message
	Rule        string
	Where       string
	Masked      string
	Fingerprint string
	Commit      string // the newest snapshot or version that has it
	Workspace   bool   // it is a workspace version
	Path        string // in the tree of the commit; empty if it is in the commit itself or in a name
	Blob        string
}

// A Manager scans the sessions of a repository. Its methods may be called concurrently.
type Manager struct {
	store *gitstore.Store
	env   local.Environment

	once    sync.Once
	err     error
	scanner *secrets.Scanner
	extra   *secrets.Rules
	cache   *cache
	ignore  ignored
}

// New returns a manager, and does nothing else: rules and caches are read when they are first needed.
func New(store *gitstore.Store, env local.Environment) *Manager {
	return &Manager{store: store, env: env}
}

// keyKey and allowedKey are the keys of the local state for the key of fingerprints, and for the allowed ones.
const (
	keyKey     = "scan-key"
	allowedKey = "scan-allowed"
)

// Scanner returns the scanner of this repository: with the rules of its work tree, and fingerprints of this machine.
func (m *Manager) Scanner(ctx context.Context) (*secrets.Scanner, error) {
	m.once.Do(func() { m.err = m.open(ctx) })
	return m.scanner, m.err
}

func (m *Manager) open(ctx context.Context) error {
	key, err := m.key(ctx)
	if err != nil {
		return err
	}
	if m.extra, m.ignore, err = m.repositoryRules(ctx); err != nil {
		return err
	}
	m.scanner = secrets.New(key, m.extra)
	m.cache = openCache(m.env.StateDir, m.scanner.Version(), key)
	return nil
}

// key returns the key of fingerprints, which is made when it is first needed.
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
			if len(old) > 0 { // made by another process meanwhile
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

// Allow allows secrets by their fingerprints, or no longer.
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

// Without returns the findings that are not allowed.
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

// Session returns the secrets in all snapshots of a session and in all versions of workspaces that are linked to it or are
// in the history of the tips. Tips are the newest commits: of the session, and of its workspaces.
func (m *Manager) Session(ctx context.Context, name string, tips []string, progress func(done, total int)) ([]Finding, error) {
	scanner, err := m.Scanner(ctx)
	if err != nil {
		return nil, err
	}
	rows, ok := m.cache.tipsOf(name, tips)
	if !ok {
		earlier, known, err := m.earlier(ctx, name, tips)
		if err != nil {
			return nil, err
		}
		fresh, err := m.rows(ctx, tips, known, nil, progress)
		if err != nil {
			return nil, err
		}
		rows = append(fresh, earlier...)
		m.cache.putTips(name, tips, rows)
		if err := m.cache.save(); err != nil {
			m.warn(fmt.Errorf("warning: remember what was scanned: %w", err))
		}
	}
	found, err := m.findings(ctx, name, tips[0], rows)
	if err != nil {
		return nil, err
	}
	for _, f := range scanner.Text([]byte(name)) {
		found = append(found, Finding{Session: name, Message: -1, Rule: f.Rule, Where: "name", Masked: f.Masked, Fingerprint: f.Fingerprint})
	}
	return found, nil
}

// Unsent returns the secrets in the history of tips that are not in that of known commits.
func (m *Manager) Unsent(ctx context.Context, name string, tips, known []string) ([]Finding, error) {
	scanner, err := m.Scanner(ctx)
	if err != nil {
		return nil, err
	}
	found := []Finding{}
	if rows, ok := m.cache.tipsOf(name, tips); !ok || len(rows) > 0 { // else all of it is clean
		if rows, err = m.rows(ctx, tips, known, nil, nil); err != nil {
			return nil, err
		}
		if err := m.cache.save(); err != nil {
			m.warn(fmt.Errorf("warning: remember what was scanned: %w", err))
		}
		if found, err = m.findings(ctx, name, tips[0], rows); err != nil {
			return nil, err
		}
	}
	for _, f := range scanner.Text([]byte(name)) {
		found = append(found, Finding{Session: name, Message: -1, Rule: f.Rule, Where: "name", Masked: f.Masked, Fingerprint: f.Fingerprint})
	}
	return m.Without(ctx, found)
}

// earlier returns the findings at former tips of a session, and these tips, if they are in the history of the present ones.
func (m *Manager) earlier(ctx context.Context, name string, tips []string) (rows []row, known []string, err error) {
	former, rows := m.cache.former(name)
	if len(former) == 0 {
		return nil, nil, nil
	}
	within, err := m.store.Reach(ctx, tips, former)
	if err != nil || !within {
		return nil, nil, err
	}
	return rows, former, nil
}

// A place identifies a secret at a place, whatever the snapshot.
type place struct {
	message            int
	where, fingerprint string
}

// findings describes rows for the user. A secret that several snapshots have at one place is reported once, for the newest; the
// bytes of an author repeat those of the message, and descriptions of snapshots repeat the beginning of the first one.
func (m *Manager) findings(ctx context.Context, name, tip string, rows []row) ([]Finding, error) {
	seen := map[place]bool{}
	inFiles := map[string]bool{}
	for _, r := range rows {
		inFiles[r.Fingerprint] = inFiles[r.Fingerprint] || r.Path != ""
	}
	found := make([]Finding, 0, len(rows))
	for _, r := range rows {
		f, where := m.describe(name, r)
		any := place{f.Message, "", r.Fingerprint}
		key := place{f.Message, where, r.Fingerprint}
		repeats := f.Message >= 0 && strings.HasSuffix(r.Path, ".md") && seen[any] || r.Path == "" && inFiles[r.Fingerprint]
		if seen[key] || repeats || m.ignore.has(f, where, r.Line) {
			continue
		}
		seen[key], seen[any] = true, true
		if err := m.since(ctx, tip, &f); err != nil {
			return nil, err
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(uint(a.Message), uint(b.Message)) })
	return found, nil
}

// QuickBytes is how much is scanned at most when something was stored, so that storing stays fast.
const QuickBytes = 16 << 20

// Prepare compiles the rules while the caller does something else. The returned function waits for the end of that.
func (m *Manager) Prepare(ctx context.Context) (wait func()) {
	var group sync.WaitGroup
	group.Go(func() {
		if s, err := m.Scanner(ctx); err == nil { // otherwise the scan reports it
			s.Text(nil)
		}
	})
	return group.Wait
}

// Fresh returns how many different secrets, that are not allowed, the history of tips has and that of known commits has not,
// and whether there was more to scan than QuickBytes. Originals are left out: they repeat the messages.
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
	if err := m.cache.save(); err != nil {
		m.warn(fmt.Errorf("warning: remember what was scanned: %w", err))
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
