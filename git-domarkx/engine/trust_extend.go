package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
)

// trustAppended extends the trust in a session over a message that the user
// appended; before has no id for a session that was not there. Its cost does not
// grow with the session where the trust was looked at last at its end.
func (m *SessionManager) trustAppended(ctx context.Context, before, after domarkx.Info, msg domarkx.Message) error {
	before.Name = after.Name
	runs := msg.Role == domarkx.Assistant && len(runnable(msg)) > 0
	if before.ID == "" {
		if !runs {
			return nil
		}
		return unextended(after.Name, m.extendTrust(ctx, after))
	}
	if !runs {
		m.digestGoesOn(before, after)
		return nil
	}
	d, err := m.digest(ctx, before)
	if err != nil {
		return unextended(after.Name, err)
	}
	held, err := m.trusts(ctx, d)
	now := d.message(msg)
	m.rememberDigest(after, now)
	if err != nil || !held {
		return unextended(after.Name, err)
	}
	return unextended(after.Name, m.growTrust(ctx, now, after.Name))
}

// trustSaved extends the trust in a session over a document that the user saved,
// when what the document was made from was trusted, and so was what the session
// held before. A session that a save makes has nothing that was trusted before.
func (m *SessionManager) trustSaved(ctx context.Context, saved Saved, base string, doc *domarkx.Document) error {
	if !saved.Changed || base == "" || saved.before.ID == "" {
		return nil
	}
	if d := digestDocument(doc); d.empty() && !saved.Merged {
		return nil
	} else if held, err := m.trusts(ctx, d); held && !saved.Merged || err != nil {
		return unextended(saved.Name, err)
	}
	before := saved.before
	before.Name = saved.Name
	all := []domarkx.Info{before}
	if before.ID != base {
		info, err := m.store.Info(ctx, base)
		if err != nil {
			return unextended(saved.Name, err)
		}
		info.Name = saved.Name
		all = append(all, info)
	}
	return unextended(saved.Name, m.extendTrust(ctx, saved.Info, all...))
}

// unextended is the error that a change is stored, but not the trust in it.
func unextended(session string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the change of %q is stored, but it is not trusted now: %w", session, err)
}
