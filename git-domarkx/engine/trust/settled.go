package trust

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// SettledMessage returns the digest extended by a message without its pending calls: those that
// have no result and whose block index is not in made.
func (d Digest) SettledMessage(m domarkx.Message, made ...int) Digest {
	settled := m
	settled.Content = nil
	for i, b := range m.Content {
		pending := b.Type == domarkx.CodeBlock && b.Language == toolcall.Language && !hasResult(m.Content, i)
		for _, k := range made {
			pending = pending && k != i
		}
		if !pending {
			settled.Content = append(settled.Content, b)
		}
	}
	return d.Message(settled)
}

func hasResult(content []domarkx.Block, i int) bool {
	return i+1 < len(content) && content[i+1].Type == domarkx.CodeBlock && content[i+1].Language == toolcall.ResultLanguage
}

// SettledDigest returns the digest of a snapshot without calls that have no result. A chat asks
// before it makes such a call, so it only needs trust in the rest.
func (m *Manager) SettledDigest(ctx context.Context, info domarkx.Info) (Digest, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return Digest{}, err
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return Digest{}, err
	}
	if known, ok := m.cachedDigest(SettledOf(info)); ok && known.Besides == added.Digest() {
		return known.Digest, nil
	}
	b, err := m.BasesBefore(ctx, info, HeaderDigest(h, added), domarkx.ID{})
	if err != nil {
		return b.Settled, err
	}
	m.CacheDigest(SettledOf(info), CachedDigest{b.Settled, added.Digest()})
	return b.Settled, nil
}

// Bases are the digests of a session before one of its messages: Whole as from [Manager.Digest],
// and Settled as from [Manager.SettledDigest].
type Bases struct{ Whole, Settled Digest }

// BasesBefore extends the digest of a header by the messages of a snapshot before the message end,
// or by all messages if end is zero.
func (m *Manager) BasesBefore(ctx context.Context, info domarkx.Info, header Digest, end domarkx.ID) (Bases, error) {
	b := Bases{header, header}
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
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return b, err
		}
		b = Bases{b.Whole.Message(msg), b.Settled.SettledMessage(msg)}
	}
	return b, nil
}

// SettledOf returns the key under which the settled digest of a snapshot is cached.
func SettledOf(info domarkx.Info) domarkx.Info {
	info.Name += "\x00settled"
	return info
}

// CopySettled copies the cached settled digest to a later snapshot in which the same calls have
// results.
func (m *Manager) CopySettled(before, after domarkx.Info) {
	after.Name = before.Name
	m.CopyDigest(SettledOf(before), SettledOf(after))
}

// ExtendCached caches the digest of a snapshot that adds a message, without trusting it.
func (m *Manager) ExtendCached(before, after domarkx.Info, added domarkx.Message) {
	if k, ok := m.cachedDigest(before); ok {
		k.Digest = k.Digest.Message(added)
		m.CacheDigest(after, k)
	}
}
