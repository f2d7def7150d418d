package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// An Extension extends the trust in a session when the session moves from one snapshot, which has no ID if the session is new, to
// another one. It is called before the session moves, so that a process killed in between does not leave it untrusted; trust in
// a message that is never stored does no harm.
type Extension func(ctx context.Context, m *Manager, before, after domarkx.Info) error

// Unchanged is the Extension for what the user has not written or approved: it trusts nothing new.
func Unchanged(context.Context, *Manager, domarkx.Info, domarkx.Info) error { return nil }

// Appended is the Extension for a message that the user appends. The cost does not grow with the session if the digest of the
// snapshot before is cached.
func Appended(msg domarkx.Message) Extension {
	return func(ctx context.Context, m *Manager, before, after domarkx.Info) error {
		runs := msg.Role == domarkx.Assistant && len(toolcall.Runnable(msg)) > 0
		if before.ID == "" {
			if !runs {
				return nil
			}
			return m.extendNew(ctx, after.Name, msg)
		}
		if !runs {
			m.CacheAppended(before, after, msg)
			return nil
		}
		was, _, err := m.Digests(ctx, before)
		if err != nil {
			return err
		}
		m.CacheAppended(before, after, msg)
		return m.Grow(ctx, was.Message(msg), after.Name, was)
	}
}

// ExtendRecorded extends the trust in a session to a call of a message, and to the arguments that
// its resource added, when this program records its result: the user approved the call, as part of the
// session or by itself. after is the snapshot with the result, and msg the message in it. It
// returns the digests before and after.
func (m *Manager) ExtendRecorded(ctx context.Context, c *Chain, before, after domarkx.Info, id domarkx.ID, msg domarkx.Message) (was, now Digests, err error) {
	if err := m.seek(ctx, c, before, id); err != nil {
		return was, now, err
	}
	if was, err = m.from(ctx, c, before, nil); err != nil {
		return was, now, err
	}
	if now, err = m.from(ctx, c, before, &msg); err != nil {
		return was, now, err
	}
	c.snapshot = after.ID
	m.cache(after, cachedDigests{now, c.besides})
	return was, now, m.Grow(ctx, now, before.Name, was)
}

// extendNew trusts a new session that the user starts with a message that runs something, unless
// it works in shared resources that the user has not trusted.
func (m *Manager) extendNew(ctx context.Context, name string, msg domarkx.Message) error {
	h := domarkx.NewHeader()
	added, err := m.AddedTo(ctx, name, h)
	if err != nil {
		return err
	}
	d := HeaderDigest(h, added)
	was := Digests{d, d}
	return m.Grow(ctx, was.Message(msg), name, was)
}

// Saved is the Extension for a document that the user made from the snapshot base, if that and the session's state before are
// trusted. It does nothing for a new session. A save that is merged with changes by others is stored already.
func Saved(base string, doc *domarkx.Document) Extension {
	return func(ctx context.Context, m *Manager, before, after domarkx.Info) error {
		if base == "" || before.ID == "" {
			return nil
		}
		all := []domarkx.Info{before}
		if before.ID != base {
			info, err := m.store.Info(ctx, base)
			if err != nil {
				return err
			}
			info.Name = after.Name
			return m.extend(ctx, after, append(all, info)...)
		}
		added, err := m.AddedTo(ctx, after.Name, doc.Header)
		if err != nil {
			return err
		}
		now := documentDigests(doc, added)
		if held, err := m.Trusts(ctx, now.Whole); err != nil || held {
			return err
		}
		was, err := m.digestEach(ctx, all)
		if err != nil {
			return err
		}
		return m.Grow(ctx, now, after.Name, was...)
	}
}

// NotExtended returns an error that a change was stored but the trust in it was not.
func NotExtended(session string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the change of %q is stored, but it is not trusted now: %w", session, err)
}

// Digests are the two digests of a session: that of everything that it runs, and that of all but
// its pending calls, those without a result. A chat asks before it makes a pending call, so it
// needs trust in the rest only. A change by the user extends the trust in the larger one that was
// trusted. A declined call is marked in its result, is in neither digest, and never runs.
type Digests struct{ Whole, Settled Digest }

// Message returns the digests extended by a message.
func (d Digests) Message(m domarkx.Message) Digests {
	return Digests{d.Whole.Message(m), d.Settled.settledMessage(m)}
}

// settledMessage returns the digest extended by a message without its pending calls.
func (d Digest) settledMessage(m domarkx.Message) Digest {
	settled := m
	settled.Content = nil
	for i, b := range m.Content {
		if b.Type != domarkx.CodeBlock || b.Language != toolcall.Language || hasResult(m.Content, i) {
			settled.Content = append(settled.Content, b)
		}
	}
	return d.Message(settled)
}

func hasResult(content []domarkx.Block, i int) bool {
	return i+1 < len(content) && content[i+1].Type == domarkx.CodeBlock && content[i+1].Language == toolcall.ResultLanguage
}

// A Chain is a place in a session: the digests before one of its messages. With it, the cost of
// recording a result does not grow with the session. The zero Chain has no place.
type Chain struct {
	snapshot string     // for which the digests hold
	message  domarkx.ID // the one behind the digests
	before   Digests
	besides  Digest
}

// AppendedTo is the Extension for a message that is not trusted. It sets the chain to the message.
func AppendedTo(c *Chain, id domarkx.ID, msg domarkx.Message) Extension {
	return func(ctx context.Context, m *Manager, before, after domarkx.Info) error {
		if before.ID == "" {
			return nil
		}
		d, besides, err := m.Digests(ctx, before)
		if err == nil {
			*c = Chain{after.ID, id, d, besides}
			m.cache(after, cachedDigests{d.Message(msg), besides})
		}
		return err
	}
}

// seek sets the chain to a message of a snapshot.
func (m *Manager) seek(ctx context.Context, c *Chain, info domarkx.Info, message domarkx.ID) error {
	if c.snapshot == info.ID && c.message == message {
		return nil
	}
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return err
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return err
	}
	header := HeaderDigest(h, added)
	*c = Chain{info.ID, message, Digests{header, header}, added.Digest()}
	for e, err := range m.store.Entries(ctx, info.ID) {
		if err != nil {
			return err
		}
		if e.ID == message {
			break
		}
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return err
		}
		c.before = c.before.Message(msg)
	}
	return nil
}

// from returns the digests of a snapshot in which the message behind the chain is replaced by
// another one, or by none if that is nil. It reads the messages behind the chain.
func (m *Manager) from(ctx context.Context, c *Chain, info domarkx.Info, replaced *domarkx.Message) (Digests, error) {
	var behind []domarkx.Message // from the end of the session
	for k := info.Messages - 1; k >= 0; k-- {
		e, err := m.store.Entry(ctx, info.ID, k)
		if err != nil {
			return Digests{}, err
		}
		if e.ID == c.message && replaced != nil {
			behind = append(behind, *replaced)
			break
		}
		if e.Role == domarkx.Assistant {
			msg, err := view.LoadMessage(ctx, m.store, e)
			if err != nil {
				return Digests{}, err
			}
			behind = append(behind, msg)
		}
		if e.ID == c.message {
			break
		}
	}
	d := c.before
	for _, msg := range slices.Backward(behind) {
		d = d.Message(msg)
	}
	return d, nil
}
