package engine

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/domarkx/domarkx"
)

// A trustDigest identifies everything that a session can run, in order. It is a hash chain with a
// link for each message, so that it can be extended when the session grows. A session that runs
// nothing has the zero digest.
type trustDigest [sha256.Size]byte

func (d trustDigest) String() string { return hex.EncodeToString(d[:]) }

// empty reports whether nothing can run.
func (d trustDigest) empty() bool { return d == trustDigest{} }

// with returns the digest extended by parts.
func (d trustDigest) with(kind string, parts ...string) trustDigest {
	h := sha256.New()
	h.Write([]byte("domarkx trust 1\n"))
	h.Write(d[:])
	var n [8]byte
	for _, part := range append([]string{kind}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return trustDigest(h.Sum(nil))
}

// digestHeader returns the digest of everything that a header runs: the engine, the resources,
// the setup script and the additions.
func digestHeader(h domarkx.Header, added *Runs) trustDigest {
	var d trustDigest
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

// message returns the digest extended by a message. The results of its calls do not count.
func (d trustDigest) message(m domarkx.Message) trustDigest {
	if m.Role != domarkx.Assistant {
		return d
	}
	var parts []string
	for _, b := range runnable(m) {
		parts = append(parts, b.Language, b.Name, b.Text)
	}
	if parts == nil {
		return d
	}
	return d.with("message", parts...)
}

// digestDocument returns the digest of a document.
func digestDocument(doc *domarkx.Document, added *Runs) trustDigest {
	d := digestHeader(doc.Header, added)
	for _, m := range doc.Conversation {
		d = d.message(m.Message)
	}
	return d
}

// digests returns the digests of a snapshot: first that of its header, then that after each
// message that can run something. The last one is the digest of the whole snapshot.
func (m *SessionManager) digests(ctx context.Context, info domarkx.Info) ([]trustDigest, error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	return m.digestsOf(ctx, info.Name, state, func(_ int, e domarkx.Entry) (domarkx.Message, error) { return loadMessage(ctx, m.store, e) })
}

// digestsOf is like digests for a state, which need not be stored. It calls message for the
// messages of the assistant.
func (m *SessionManager) digestsOf(ctx context.Context, session string, state *domarkx.State, message func(k int, e domarkx.Entry) (domarkx.Message, error)) ([]trustDigest, error) {
	h, err := loadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return nil, err
	}
	added, err := m.addedTo(ctx, session, h)
	if err != nil {
		return nil, err
	}
	all := []trustDigest{digestHeader(h, added)}
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := message(k, e)
		if err != nil {
			return nil, err
		}
		if d := all[len(all)-1].message(msg); d != all[len(all)-1] {
			all = append(all, d)
		}
	}
	return all, nil
}

// digestState returns the last digest of digestsOf.
func (m *SessionManager) digestState(ctx context.Context, session string, state *domarkx.State, message func(k int, e domarkx.Entry) (domarkx.Message, error)) (trustDigest, error) {
	all, err := m.digestsOf(ctx, session, state, message)
	if err != nil {
		return trustDigest{}, err
	}
	return all[len(all)-1], nil
}

// digest returns the digest of a snapshot.
func (m *SessionManager) digest(ctx context.Context, info domarkx.Info) (trustDigest, error) {
	d, _, err := m.digestWith(ctx, info)
	return d, err
}

// digestWith returns the digest of a snapshot and the digest of what runs besides its document.
func (m *SessionManager) digestWith(ctx context.Context, info domarkx.Info) (d, besides trustDigest, err error) {
	h, err := m.header(ctx, info.ID)
	if err != nil {
		return d, besides, err
	}
	added, err := m.addedTo(ctx, info.Name, h)
	if err != nil {
		return d, besides, err
	}
	besides = added.digest()
	if known, ok := m.knownDigest(info); ok && known.besides == besides {
		return known.digest, besides, nil
	}
	all, err := m.digests(ctx, info)
	if err != nil {
		return d, besides, err
	}
	d = all[len(all)-1]
	m.rememberDigest(info, knownDigest{d, besides})
	return d, besides, nil
}
