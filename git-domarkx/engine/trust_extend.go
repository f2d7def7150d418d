package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// trustAppended extends the trust in a session to a message that the user appends. before.ID is
// empty for a new session. It is called before the session moves, so that a process killed in
// between does not leave it untrusted; trust in a message that is never stored does no harm. The
// cost does not grow with the session if the digest of before is cached.
func (m *SessionManager) trustAppended(ctx context.Context, before, after domarkx.Info, msg domarkx.Message) error {
	before.Name = after.Name
	runs := msg.Role == domarkx.Assistant && len(runnable(msg)) > 0
	if before.ID == "" {
		if !runs {
			return nil
		}
		return m.trustNew(ctx, after.Name, msg)
	}
	if !runs {
		m.digestGoesOn(before, after)
		m.settledGoesOn(before, after)
		return nil
	}
	d, besides, err := m.digestWith(ctx, before)
	if err != nil {
		return err
	}
	held, err := m.trusts(ctx, d)
	now := d.message(msg)
	m.rememberDigest(after, knownDigest{now, besides})
	if err != nil || !held {
		return err
	}
	return m.growTrust(ctx, now, after.Name, d)
}

// trustNew trusts a new session that the user starts with a message that runs something, unless
// it works in shared resources that the user has not trusted.
func (m *SessionManager) trustNew(ctx context.Context, name string, msg domarkx.Message) error {
	h := domarkx.NewHeader()
	added, err := m.addedTo(ctx, name, h)
	if err != nil {
		return err
	}
	d := digestHeader(h, added)
	if held, err := m.trusts(ctx, d); err != nil || !held {
		return err
	}
	return m.growTrust(ctx, d.message(msg), name, d)
}

// trustSaved extends the trust in a session to a document that the user saves, if the base of the
// document and the session's state before are trusted. It does nothing for a new session. A
// merged save is already stored; otherwise the session has not moved yet.
func (m *SessionManager) trustSaved(ctx context.Context, saved Saved, base string, doc *domarkx.Document) error {
	if !saved.Changed || base == "" || saved.before.ID == "" {
		return nil
	}
	before := saved.before
	before.Name = saved.Name
	all := []domarkx.Info{before}
	if before.ID != base {
		info, err := m.store.Info(ctx, base)
		if err != nil {
			return err
		}
		info.Name = saved.Name
		all = append(all, info)
	}
	if saved.Merged {
		return m.extendTrust(ctx, saved.Info, all...)
	}
	added, err := m.addedTo(ctx, saved.Name, doc.Header)
	if err != nil {
		return err
	}
	now := digestDocument(doc, added)
	if held, err := m.trusts(ctx, now); err != nil || held {
		return err
	}
	was, err := m.digestEach(ctx, all)
	if err != nil {
		return err
	}
	return m.growTrust(ctx, now, saved.Name, was...)
}

// unextended returns an error that a change was stored but the trust in it was not.
func unextended(session string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the change of %q is stored, but it is not trusted now: %w", session, err)
}
