package redact

import (
	"bytes"
	"context"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Filter returns what replaces the secrets in what is added to a session, if it was redacted; else nil.
func (m *Manager) Filter(ctx context.Context, tip string) (func(ctx context.Context, text []byte) ([]byte, bool, error), error) {
	if !m.store.HasReplacements() {
		return nil, nil
	}
	root, err := m.redactedRoot(ctx, tip)
	if root == "" || err != nil {
		return nil, err
	}
	return func(ctx context.Context, text []byte) ([]byte, bool, error) {
		now, err := m.filter(ctx, tip, root, text)
		return now, err == nil && !bytes.Equal(now, text), err
	}, nil
}

// redactedRoot returns the first snapshot of the history of a redacted session; "" if it was not redacted.
func (m *Manager) redactedRoot(ctx context.Context, tip string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.roots == nil {
		m.roots = map[string]string{}
	}
	redacted, root := false, ""
	for info, err := range m.store.Ancestors(ctx, tip) {
		if err != nil {
			return "", err
		}
		if known, ok := m.roots[info.ID]; ok && (known != "" || !redacted) { // only the latest snapshots are new
			redacted, root = known != "", known
			break
		}
		redacted, root = redacted || info.Replaces != "", keyOf(info.ID, info.Replaces)
	}
	if !redacted {
		root = ""
	}
	m.roots[tip] = root
	return root, nil
}

// Document returns a document of a session without secrets, if the session was redacted. Equal secrets get the
// numbers that they have in the session on this machine, others the next ones, in their order.
func (m *Manager) Document(ctx context.Context, tip string, data []byte) ([]byte, bool, error) {
	root, err := m.redactedRoot(ctx, tip)
	if root == "" || err != nil {
		return data, false, err
	}
	data, err = m.filter(ctx, tip, root, data)
	return data, err == nil, err
}

// filter returns a text or JSON without secrets, with the numbers that this machine remembers of the history with
// that first snapshot.
func (m *Manager) filter(ctx context.Context, tip, root string, text []byte) ([]byte, error) {
	if err := m.load(ctx); err != nil {
		return nil, err
	}
	t := newTable(m.scan, m.allow)
	if len(t.findings(text, true)) == 0 {
		return text, nil
	}
	known, err := m.recall(ctx, root)
	if err != nil {
		return nil, err
	}
	t.recall = known
	for _, s := range known.placeholders {
		t.last = max(t.last, s.n)
	}
	head, err := m.store.Head(ctx, tip)
	if err == nil {
		err = m.collect(ctx, &collector{from: m.store, table: t, seen: map[string]bool{}, marks: true}, []snapshot.CommitHead{head})
	}
	if err != nil {
		return nil, err
	}
	t.note(text, true)
	text, _ = t.redact(text, true)
	return text, m.remember(ctx, root, t)
}

// forgetImports removes from the record of imports how the documents of redacted sessions go on, which may hold parts of them.
func (m *Manager) forgetImports(h *history, done map[string]string) error {
	record, err := sources.Open(m.env.StateDir)
	if err != nil {
		return err
	}
	sessions := map[string]bool{}
	for _, ref := range h.refs {
		if k, name := refname.Of(ref.Name); k == refname.Sessions {
			sessions[name] = true
		}
	}
	record.Forget(func(s *sources.Source) bool {
		if !sessions[s.Session] {
			return false
		}
		s.Growth, s.Before = nil, nil
		if now := done[s.Snapshot]; now != "" && now != s.Snapshot {
			before := *s // counts if the process is killed before the refs move
			s.Snapshot, s.Before = now, &before
		}
		return true
	})
	return record.Save()
}
