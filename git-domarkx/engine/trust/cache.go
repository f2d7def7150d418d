package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

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
