package trust

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A Digest identifies everything that a session can run, in order. It is a hash chain with a
// link for each message, so that it can be extended when the session grows. A session that runs
// nothing has the zero digest.
type Digest [sha256.Size]byte

// String returns the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Empty reports whether nothing can run.
func (d Digest) Empty() bool { return d == Digest{} }

// with returns the digest extended by parts.
func (d Digest) with(kind string, parts ...string) Digest {
	h := sha256.New()
	h.Write([]byte("domarkx trust 1\n"))
	h.Write(d[:])
	var n [8]byte
	for _, part := range append([]string{kind}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return Digest(h.Sum(nil))
}

// HeaderDigest returns the digest of everything that a header runs: the engine, the resources,
// the setup script and the additions.
func HeaderDigest(h domarkx.Header, added *Runs) Digest {
	var d Digest
	for _, name := range []string{configEngine, configImage, configWorkspace} {
		if v, ok := h.ExecutionConfig.Get(name); ok {
			d = d.with(name, v.JSON())
		}
	}
	if h.Setup != nil {
		d = d.with("setup", h.Setup.Language, h.Setup.Code)
	}
	if added != nil {
		d = d.with("added", added.What, added.Text)
	}
	return d
}

// Message returns the digest extended by a message. The results of its calls do not count.
func (d Digest) Message(m domarkx.Message) Digest {
	if m.Role != domarkx.Assistant {
		return d
	}
	var parts []string
	for _, b := range toolcall.Runnable(m) {
		parts = append(parts, b.Language, b.Name, b.Text)
	}
	if parts == nil {
		return d
	}
	return d.with("message", parts...)
}

func documentDigest(doc *domarkx.Document, added *Runs) Digest {
	d := HeaderDigest(doc.Header, added)
	for _, m := range doc.Conversation {
		d = d.Message(m.Message)
	}
	return d
}

// digests returns the digests of a snapshot: first that of its header, then that after each
// message that can run something. The last one is the digest of the whole snapshot.
func (m *Manager) digests(ctx context.Context, info domarkx.Info) ([]Digest, error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	return m.digestsOf(ctx, info.Name, state, func(_ int, e domarkx.Entry) (domarkx.Message, error) { return view.LoadMessage(ctx, m.store, e) })
}

// digestsOf is like digests for a state, which need not be stored. It calls message for the
// messages of the assistant.
func (m *Manager) digestsOf(ctx context.Context, session string, state *domarkx.State, message func(k int, e domarkx.Entry) (domarkx.Message, error)) ([]Digest, error) {
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return nil, err
	}
	added, err := m.AddedTo(ctx, session, h)
	if err != nil {
		return nil, err
	}
	all := []Digest{HeaderDigest(h, added)}
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := message(k, e)
		if err != nil {
			return nil, err
		}
		if d := all[len(all)-1].Message(msg); d != all[len(all)-1] {
			all = append(all, d)
		}
	}
	return all, nil
}

// StateDigest returns the digest of everything that a state can run. The state need not be stored.
func (m *Manager) StateDigest(ctx context.Context, session string, state *domarkx.State, message func(k int, e domarkx.Entry) (domarkx.Message, error)) (Digest, error) {
	all, err := m.digestsOf(ctx, session, state, message)
	if err != nil {
		return Digest{}, err
	}
	return all[len(all)-1], nil
}

// Digest returns the digest of a snapshot.
func (m *Manager) Digest(ctx context.Context, info domarkx.Info) (Digest, error) {
	d, _, err := m.DigestWith(ctx, info)
	return d, err
}

// DigestWith returns the digest of a snapshot and the digest of what runs besides its document.
func (m *Manager) DigestWith(ctx context.Context, info domarkx.Info) (d, besides Digest, err error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return d, besides, err
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return d, besides, err
	}
	besides = added.Digest()
	if known, ok := m.cachedDigest(info); ok && known.Besides == besides {
		return known.Digest, besides, nil
	}
	all, err := m.digests(ctx, info)
	if err != nil {
		return d, besides, err
	}
	d = all[len(all)-1]
	m.CacheDigest(info, CachedDigest{d, besides})
	return d, besides, nil
}
