package trust

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
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

func documentDigests(doc *domarkx.Document, added *Runs) Digests {
	header := HeaderDigest(doc.Header, added)
	d := Digests{header, header}
	for _, m := range doc.Conversation {
		d = d.Message(m.Message)
	}
	return d
}

// digests returns the digests of a snapshot: first those of its header, then those after each
// message that can run something. The last ones are the digests of the snapshot.
func (m *Manager) digests(ctx context.Context, info domarkx.Info) ([]Digests, error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	return m.stateDigests(ctx, info.Name, state)
}

// stateDigests is like digests for a state, which need not be stored.
func (m *Manager) stateDigests(ctx context.Context, session string, state *domarkx.State) ([]Digests, error) {
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return nil, err
	}
	added, err := m.AddedTo(ctx, session, h)
	if err != nil {
		return nil, err
	}
	header := HeaderDigest(h, added)
	all := []Digests{{header, header}}
	for _, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return nil, err
		}
		if d := all[len(all)-1].Message(msg); d != all[len(all)-1] {
			all = append(all, d)
		}
	}
	return all, nil
}

// Digest returns the digest of everything that a snapshot runs.
func (m *Manager) Digest(ctx context.Context, info domarkx.Info) (Digest, error) {
	d, _, err := m.Digests(ctx, info)
	return d.Whole, err
}

// Digests returns the digests of a snapshot and the digest of what runs besides its document.
func (m *Manager) Digests(ctx context.Context, info domarkx.Info) (d Digests, besides Digest, err error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return d, besides, err
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return d, besides, err
	}
	besides = added.Digest()
	if known, ok := m.cached(info); ok && known.besides == besides {
		return known.Digests, besides, nil
	}
	all, err := m.digests(ctx, info)
	if err != nil {
		return d, besides, err
	}
	d = all[len(all)-1]
	m.cache(info, cachedDigests{d, besides})
	return d, besides, nil
}

// digestFile returns the path of the file that caches the digests of a session's newest snapshot,
// so that a trust check does not read long sessions.
func (m *Manager) digestFile(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(m.env.StateDir, "trust", hex.EncodeToString(sum[:16]))
}

// cachedDigests are the cached digests of a snapshot. They are valid as long as what runs besides
// the document (besides) does not change.
type cachedDigests struct {
	Digests
	besides Digest
}

// cached returns the cached digests of a snapshot. ok is false if they are not cached.
func (m *Manager) cached(info domarkx.Info) (k cachedDigests, ok bool) {
	data, err := os.ReadFile(m.digestFile(info.Name))
	if err != nil {
		return k, false
	}
	words := strings.Fields(string(data))
	if len(words) != 4 || words[0] != info.ID {
		return k, false
	}
	return k, k.Whole.parse(words[1]) && k.Settled.parse(words[2]) && k.besides.parse(words[3])
}

// parse parses a digest in hexadecimal and reports whether it is valid.
func (d *Digest) parse(s string) bool {
	data, err := hex.DecodeString(s)
	return err == nil && copy(d[:], data) == len(d) && len(data) == len(d)
}

// cache caches the digests of a snapshot. It ignores errors, because missing digests are computed
// again.
func (m *Manager) cache(info domarkx.Info, k cachedDigests) {
	path := m.digestFile(info.Name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "digest-*.tmp")
	if err != nil {
		return
	}
	_, err = f.WriteString(strings.Join([]string{info.ID, k.Whole.String(), k.Settled.String(), k.besides.String()}, " ") + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// CacheAppended caches the digests of a snapshot that adds a message, if those of the snapshot
// before are cached. It trusts nothing.
func (m *Manager) CacheAppended(before, after domarkx.Info, added domarkx.Message) {
	if k, ok := m.cached(before); ok {
		after.Name = before.Name
		m.cache(after, cachedDigests{k.Message(added), k.besides})
	}
}
