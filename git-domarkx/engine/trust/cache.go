package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
)

// digestFile returns the path of the file that caches the digest of a session's newest snapshot,
// so that a trust check does not read long sessions.
func (m *Manager) digestFile(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(m.env.StateDir, "trust", hex.EncodeToString(sum[:16]))
}

// A CachedDigest is the cached digest of a snapshot. It is valid as long as what runs besides the
// document (besides) does not change.
type CachedDigest struct{ Digest, Besides Digest }

// cachedDigest returns the cached digest of a snapshot. ok is false if it is not cached.
func (m *Manager) cachedDigest(info domarkx.Info) (k CachedDigest, ok bool) {
	data, err := os.ReadFile(m.digestFile(info.Name))
	if err != nil {
		return k, false
	}
	words := strings.Fields(string(data))
	if len(words) != 3 || words[0] != info.ID {
		return k, false
	}
	return k, k.Digest.parse(words[1]) && k.Besides.parse(words[2])
}

// parse parses a digest in hexadecimal and reports whether it is valid.
func (d *Digest) parse(s string) bool {
	data, err := hex.DecodeString(s)
	return err == nil && copy(d[:], data) == len(d) && len(data) == len(d)
}

// CacheDigest caches the digest of a snapshot. It ignores errors, because a missing digest is
// computed again.
func (m *Manager) CacheDigest(info domarkx.Info, k CachedDigest) {
	path := m.digestFile(info.Name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "digest-*.tmp")
	if err != nil {
		return
	}
	_, err = f.WriteString(info.ID + " " + k.Digest.String() + " " + k.Besides.String() + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// CopyDigest copies the cached digest to a later snapshot that runs the same.
func (m *Manager) CopyDigest(before, after domarkx.Info) {
	if k, ok := m.cachedDigest(before); ok {
		after.Name = before.Name
		m.CacheDigest(after, k)
	}
}
