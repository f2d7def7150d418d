package engine

import (
	"context"

	"github.com/domarkx/domarkx"
)

// settledMessage returns the digest extended by a message as if it had only those of its calls
// that have a result or are in made, which has indexes of blocks.
func (d trustDigest) settledMessage(m domarkx.Message, made ...int) trustDigest {
	settled := m
	settled.Content = nil
	for i, b := range m.Content {
		pending := b.Type == domarkx.CodeBlock && b.Language == toolCall && !hasResult(m.Content, i)
		for _, k := range made {
			pending = pending && k != i
		}
		if !pending {
			settled.Content = append(settled.Content, b)
		}
	}
	return d.message(settled)
}

func hasResult(content []domarkx.Block, i int) bool {
	return i+1 < len(content) && content[i+1].Type == domarkx.CodeBlock && content[i+1].Language == toolResult
}

// settledDigest returns the digest of a snapshot without the calls that have no result. A chat
// makes none of them without asking, so it needs trust only in the rest.
func (m *SessionManager) settledDigest(ctx context.Context, info domarkx.Info) (trustDigest, error) {
	h, err := m.header(ctx, info.ID)
	if err != nil {
		return trustDigest{}, err
	}
	added, err := m.addedTo(ctx, info.Name, h)
	if err != nil {
		return trustDigest{}, err
	}
	if known, ok := m.knownDigest(settledOf(info)); ok && known.besides == added.digest() {
		return known.digest, nil
	}
	b, err := m.basesBefore(ctx, info, digestHeader(h, added), domarkx.ID{})
	if err != nil {
		return b.settled, err
	}
	m.rememberDigest(settledOf(info), knownDigest{b.settled, added.digest()})
	return b.settled, nil
}

// bases are the digests of a session before one of its messages: as [SessionManager.digest] and as
// [SessionManager.settledDigest] define them.
type bases struct{ whole, settled trustDigest }

// basesBefore extends a digest by the messages of a snapshot up to a message, or by all if its id
// is zero.
func (m *SessionManager) basesBefore(ctx context.Context, info domarkx.Info, header trustDigest, end domarkx.ID) (bases, error) {
	b := bases{header, header}
	for e, err := range m.store.Entries(ctx, info.ID) {
		if err != nil {
			return b, err
		}
		if e.Role != domarkx.Assistant {
			continue
		}
		if end != (domarkx.ID{}) && e.ID == end {
			break
		}
		msg, err := loadMessage(ctx, m.store, e)
		if err != nil {
			return b, err
		}
		b = bases{b.whole.message(msg), b.settled.settledMessage(msg)}
	}
	return b, nil
}

// settledOf returns the key under which the settled digest of a snapshot is cached.
func settledOf(info domarkx.Info) domarkx.Info {
	info.Name += "\x00settled"
	return info
}

// settledGoesOn copies the cached settled digest to a later snapshot in which the same calls have
// results.
func (m *SessionManager) settledGoesOn(before, after domarkx.Info) {
	after.Name = before.Name
	m.digestGoesOn(settledOf(before), settledOf(after))
}
