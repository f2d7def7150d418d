package redact

import (
	"context"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// Document returns a document of a session without secrets, if the session was redacted. Equal secrets get the
// numbers that they have in the session on this machine, others the next ones, in their order.
func (m *Manager) Document(ctx context.Context, tip string, data []byte) ([]byte, bool, error) {
	redacted, root := false, ""
	for info, err := range m.store.Ancestors(ctx, tip) {
		if err != nil {
			return nil, false, err
		}
		redacted, root = redacted || info.Replaces != "", keyOf(info.ID, info.Replaces)
	}
	if !redacted {
		return data, false, nil
	}
	if err := m.load(ctx); err != nil {
		return nil, false, err
	}
	t := newTable(m.scan, m.allow)
	known, err := m.recall(ctx, root)
	if err != nil {
		return nil, false, err
	}
	t.recall = known
	for _, s := range known.placeholders {
		t.last = max(t.last, s.n)
	}
	t.note(data, true)
	data, _ = t.redact(data, true)
	return data, true, m.remember(ctx, root, t)
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
