package trust

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A Digest identifies everything that a session can run, in order. It is a hash chain with a link for each message, so that
// it can be extended when the session grows. A session that runs nothing has the zero digest.
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
func (m *Manager) digests(ctx context.Context, info domarkx.Info) ([]Digests, cachedDigests, error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return nil, cachedDigests{}, err
	}
	return m.stateDigests(ctx, info.Name, state, nil)
}

// stateDigests is like digests for a state, which need not be stored, and in which some messages are replaced by others.
func (m *Manager) stateDigests(ctx context.Context, session string, state *domarkx.State, replaced map[int]domarkx.Message) (all []Digests, k cachedDigests, err error) {
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return nil, k, err
	}
	added, err := m.AddedTo(ctx, session, h)
	if err != nil {
		return nil, k, err
	}
	header := HeaderDigest(h, added)
	k = cachedDigests{Digests: Digests{header, header}, besides: added.Digest(), last: none}
	all = []Digests{k.Digests}
	for i, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, ok := replaced[i]
		if !ok {
			if msg, err = view.LoadMessage(ctx, m.store, e); err != nil {
				return nil, k, err
			}
		}
		if k = k.appended(i, msg); k.last == i {
			all = append(all, k.Digests)
		}
	}
	return all, k, nil
}

// Digest returns the digest of everything that a snapshot runs.
func (m *Manager) Digest(ctx context.Context, info domarkx.Info) (Digest, error) {
	d, _, err := m.Digests(ctx, info)
	return d.Whole, err
}

// Digests returns the digests of a snapshot and the digest of what runs besides its document.
func (m *Manager) Digests(ctx context.Context, info domarkx.Info) (d Digests, besides Digest, err error) {
	k, err := m.known(ctx, info)
	return k.Digests, k.besides, err
}

// known returns the digests of a snapshot, which are then in the cache.
func (m *Manager) known(ctx context.Context, info domarkx.Info) (k cachedDigests, err error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return k, err
	}
	added, err := m.AddedTo(ctx, info.Name, h)
	if err != nil {
		return k, err
	}
	if k, ok := m.cached(info); ok && k.besides == added.Digest() {
		return k, nil
	}
	if _, k, err = m.digests(ctx, info); err == nil {
		m.cache(info, k)
	}
	return k, err
}

// digestFile returns the path of the file that caches the digests of a session's newest snapshot,
// so that a trust check does not read long sessions.
func (m *Manager) digestFile(session string) string {
	return filepath.Join(m.env.StateDir, "trust", local.FileName(session))
}

// cachedDigests are the cached digests of a snapshot. They are valid as long as what runs besides
// the document (besides) does not change.
type cachedDigests struct {
	Digests
	besides Digest
	before  Digests // without the last message that runs something
	last    int     // index of that message; none if nothing runs or it is not known
}

// none is the index of no message.
const none = -1

// appended returns the digests after another message, which gets the index at.
func (k cachedDigests) appended(at int, msg domarkx.Message) cachedDigests {
	if now := k.Message(msg); now != k.Digests {
		k.Digests, k.before, k.last = now, k.Digests, at
	}
	return k
}

// cached returns the cached digests of a snapshot. ok is false if they are not cached.
func (m *Manager) cached(info domarkx.Info) (k cachedDigests, ok bool) {
	data, err := os.ReadFile(m.digestFile(info.Name))
	if err != nil {
		return k, false
	}
	words := strings.Fields(string(data))
	if len(words) != 7 || words[0] != info.ID {
		return k, false
	}
	ok = true
	for i, d := range k.all() {
		ok = d.parse(words[1+i]) && ok
	}
	k.last, err = strconv.Atoi(words[6])
	return k, ok && err == nil
}

// all returns the digests in the order of the file.
func (k *cachedDigests) all() []*Digest {
	return []*Digest{&k.Whole, &k.Settled, &k.besides, &k.before.Whole, &k.before.Settled}
}

// parse parses a digest in hexadecimal and reports whether it is valid.
func (d *Digest) parse(s string) bool {
	data, err := hex.DecodeString(s)
	return err == nil && copy(d[:], data) == len(d) && len(data) == len(d)
}

// cache caches the digests of a snapshot. It ignores errors, because missing digests are computed again.
func (m *Manager) cache(info domarkx.Info, k cachedDigests) {
	path := m.digestFile(info.Name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "digest-*.tmp")
	if err != nil {
		return
	}
	words := []string{info.ID}
	for _, d := range k.all() {
		words = append(words, d.String())
	}
	_, err = f.WriteString(strings.Join(words, " ") + " " + strconv.Itoa(k.last) + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}
