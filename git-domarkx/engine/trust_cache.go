package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
)

// digestFile is where the digest of a session's newest snapshot is kept, so that
// trust in a long session is found out without reading it.
func (m *SessionManager) digestFile(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(m.around.StateDir, "trust", hex.EncodeToString(sum[:16]))
}

// knownDigest returns the digest of a snapshot when it is the one that was looked
// at last.
func (m *SessionManager) knownDigest(info domarkx.Info) (d trustDigest, ok bool) {
	data, err := os.ReadFile(m.digestFile(info.Name))
	if err != nil {
		return d, false
	}
	snapshot, digest, _ := strings.Cut(strings.TrimSuffix(string(data), "\n"), " ")
	n, err := hex.Decode(d[:], []byte(digest[:min(len(digest), 2*len(d))]))
	return d, err == nil && n == len(d) && len(digest) == 2*len(d) && snapshot == info.ID
}

// rememberDigest keeps the digest of a snapshot. Where that is impossible, and when
// a power cut takes it, it is made again the next time.
func (m *SessionManager) rememberDigest(info domarkx.Info, d trustDigest) {
	path := m.digestFile(info.Name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "digest-*.tmp")
	if err != nil {
		return
	}
	_, err = f.WriteString(info.ID + " " + d.String() + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// digestGoesOn remembers the digest of a snapshot that can run what the one before
// it can, when that is known.
func (m *SessionManager) digestGoesOn(before, after domarkx.Info) {
	if d, ok := m.knownDigest(before); ok {
		after.Name = before.Name
		m.rememberDigest(after, d)
	}
}
