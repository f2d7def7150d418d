package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// trustAppended extends the trust in a session over a message that the user appends;
// before has no id for a session that is not there. Where the session has not moved yet, no
// kill leaves one that is not trusted; trust in what does not come does no harm. Its cost
// does not grow with the session where the trust was looked at last at its end.
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

// trustNew trusts a session that the user begins with a message that can run, unless it
// works in what others share and the user has not seen.
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

// trustSaved extends the trust in a session over a document that the user saves, when
// what the document was made from is trusted, and so is what the session held before. A
// session that a save makes has nothing that was trusted before. A save that is merged is
// stored by then; else the session has not moved yet.
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

// unextended is the error that a change is stored, but not the trust in it.
func unextended(session string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the change of %q is stored, but it is not trusted now: %w", session, err)
}
