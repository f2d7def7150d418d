package trust

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// An Extension extends the trust in a session when the session moves from one snapshot, which has no ID if the session is new, to
// another one. It is called before the session moves, so that a process killed in between does not leave it untrusted; trust in
// a message that is never stored does no harm.
type Extension func(ctx context.Context, m *Manager, before, after domarkx.Info) error

// Unchanged is the Extension for what the user has not written or approved: it trusts nothing new.
func Unchanged(context.Context, *Manager, domarkx.Info, domarkx.Info) error { return nil }

// Appended is the Extension for a message that the user appends. The cost does not grow with the session if the digest of the
// snapshot before is cached.
func Appended(msg domarkx.Message) Extension { return appended(msg, true) }

// AppendedTo is the Extension for a message that is not trusted.
func AppendedTo(msg domarkx.Message) Extension { return appended(msg, false) }

func appended(msg domarkx.Message, isTrusted bool) Extension {
	return func(ctx context.Context, m *Manager, before, after domarkx.Info) error {
		runs := msg.Role == domarkx.Assistant && len(toolcall.Runnable(msg)) > 0
		if before.ID == "" {
			if !runs || !isTrusted {
				return nil
			}
			return m.extendNew(ctx, after.Name, msg)
		}
		if !runs {
			if k, ok := m.cached(before); ok {
				m.cache(after, k.appended(before.Messages, msg))
			}
			return nil
		}
		k, err := m.known(ctx, before)
		if err != nil {
			return err
		}
		now := k.appended(before.Messages, msg)
		if m.cache(after, now); !isTrusted {
			return nil
		}
		return m.Grow(ctx, now.Digests, after.Name, k.Digests)
	}
}

// ExtendRecorded extends the trust in a session to a call of message at, and to the arguments that its resource added, when this
// program records its result: the user approved the call, as part of the session or by itself. after is the snapshot with the
// result, and msg the message in it. It returns the digests before and after. For the last message that runs something, the cost
// does not grow with the session.
func (m *Manager) ExtendRecorded(ctx context.Context, before, after domarkx.Info, at int, msg domarkx.Message) (was, now Digests, err error) {
	k, err := m.known(ctx, before)
	if err != nil {
		return was, now, err
	}
	was = k.Digests
	if k.last == at {
		k = cachedDigests{Digests: k.before, besides: k.besides, last: none}.appended(at, msg)
	} else {
		state, err := m.store.Load(ctx, before.ID)
		if err != nil {
			return was, now, err
		}
		if _, k, err = m.stateDigests(ctx, before.Name, state, map[int]domarkx.Message{at: msg}); err != nil {
			return was, now, err
		}
	}
	m.cache(after, k)
	return was, k.Digests, m.Grow(ctx, k.Digests, before.Name, was)
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
// trusted. It does nothing for a new session. A save that is merged with changes by others is stored already: if the process is
// killed then, the session is untrusted.
func Saved(base string, doc *domarkx.Document) Extension {
	return func(ctx context.Context, m *Manager, before, after domarkx.Info) error {
		if base == "" || before.ID == "" {
			return nil
		}
		var now Digests
		made := []domarkx.Info{before} // the snapshots from which it was made
		if before.ID == base {
			added, err := m.AddedTo(ctx, after.Name, doc.Header)
			if err != nil {
				return err
			}
			now = documentDigests(doc, added)
			if held, err := m.Trusts(ctx, now.Whole); err != nil || held {
				return err
			}
		} else {
			info, err := m.store.Info(ctx, base)
			if err != nil {
				return err
			}
			if now, _, err = m.Digests(ctx, after); err != nil {
				return err
			}
			info.Name = after.Name
			made = append(made, info)
		}
		was := make([]Digests, len(made))
		for i, info := range made {
			var err error
			if was[i], _, err = m.Digests(ctx, info); err != nil {
				return err
			}
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
		_, isDone := toolcall.ResultAfter(m.Content, i)
		if b.Type != domarkx.CodeBlock || b.Language != toolcall.Language || isDone {
			settled.Content = append(settled.Content, b)
		}
	}
	return d.Message(settled)
}
