package engine

import (
	"context"
	"fmt"
	"slices"

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
		return unextended(after.Name, m.trustNew(ctx, after))
	}
	if !runs {
		m.digestGoesOn(before, after)
		return nil
	}
	d, besides, err := m.digestWith(ctx, before)
	if err != nil {
		return unextended(after.Name, err)
	}
	held, err := m.trusts(ctx, d)
	now := d.message(msg)
	m.rememberDigest(after, knownDigest{now, besides})
	if err != nil || !held {
		return unextended(after.Name, err)
	}
	return unextended(after.Name, m.growTrust(ctx, now, after.Name))
}

// trustNew trusts a session that the user began with a message that can run, unless it
// works in what others share and the user has not seen.
func (m *SessionManager) trustNew(ctx context.Context, after domarkx.Info) error {
	all, err := m.digests(ctx, after)
	if err != nil {
		return err
	}
	if held, err := m.trusts(ctx, all[0]); err != nil || !held {
		return err
	}
	return m.growTrust(ctx, all[len(all)-1], after.Name)
}

// finishTrust extends the trust in a session whose digest is d over a call that the
// user made, and that is its last message, where the program was killed before it
// could do so. It reports whether the session is trusted now.
func (m *SessionManager) finishTrust(ctx context.Context, info domarkx.Info, d trustDigest) (bool, error) {
	begun, err := m.journal().list()
	if err != nil || len(begun) == 0 {
		return false, err
	}
	state, err := m.store.Load(ctx, info.ID)
	if err != nil || len(state.Thread.Live) == 0 {
		return false, err
	}
	last := state.Thread.Live[len(state.Thread.Live)-1]
	i := slices.IndexFunc(begun, func(c journalled) bool { return c.Session == info.Name && c.Appends && c.Message == last.ID })
	if i < 0 {
		return false, nil
	}
	msg, err := loadMessage(ctx, m.store, last)
	if err != nil {
		return false, err
	}
	all, err := m.digests(ctx, info)
	if err != nil {
		return false, err
	}
	if runs := runnable(msg); len(all) < 2 || len(runs) != 1 || !sameCode(runs[0], begun[i].Block) {
		return false, nil // somebody changed it
	}
	if held, err := m.trusts(ctx, all[len(all)-2]); err != nil || !held {
		return false, err
	}
	return true, m.growTrust(ctx, d, info.Name)
}

// trustSaved extends the trust in a session over a document that the user saved,
// when what the document was made from was trusted, and so was what the session
// held before. A session that a save makes has nothing that was trusted before.
func (m *SessionManager) trustSaved(ctx context.Context, saved Saved, base string, doc *domarkx.Document) error {
	if !saved.Changed || base == "" || saved.before.ID == "" {
		return nil
	}
	added, err := m.addedTo(ctx, saved.Name, doc.Header)
	if err != nil {
		return unextended(saved.Name, err)
	}
	if d := digestDocument(doc, added); d.empty() && !saved.Merged {
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
