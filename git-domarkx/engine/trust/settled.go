package trust

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

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
