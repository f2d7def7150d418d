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

// A knownDigest is the digest of a snapshot, which holds as long as what runs besides
// the document is the same.
type knownDigest struct{ digest, besides trustDigest }

// knownDigest returns the digest of a snapshot when it is the one that was looked
// at last.
func (m *SessionManager) knownDigest(info domarkx.Info) (k knownDigest, ok bool) {
	data, err := os.ReadFile(m.digestFile(info.Name))
	if err != nil {
		return k, false
	}
	words := strings.Fields(string(data))
	if len(words) != 3 || words[0] != info.ID {
		return k, false
	}
	return k, k.digest.parse(words[1]) && k.besides.parse(words[2])
}

// parse reads a digest in hexadecimal, and reports whether it is one.
func (d *trustDigest) parse(s string) bool {
	data, err := hex.DecodeString(s)
	return err == nil && copy(d[:], data) == len(d) && len(data) == len(d)
}

// rememberDigest keeps the digest of a snapshot. Where that is impossible, and when
// a power cut takes it, it is made again the next time.
func (m *SessionManager) rememberDigest(info domarkx.Info, k knownDigest) {
	path := m.digestFile(info.Name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(path), "digest-*.tmp")
	if err != nil {
		return
	}
	_, err = f.WriteString(info.ID + " " + k.digest.String() + " " + k.besides.String() + "\n")
	if closeErr := f.Close(); err != nil || closeErr != nil || os.Rename(f.Name(), path) != nil {
		os.Remove(f.Name())
	}
}

// digestGoesOn remembers the digest of a snapshot that can run what the one before
// it can, when that is known.
func (m *SessionManager) digestGoesOn(before, after domarkx.Info) {
	if k, ok := m.knownDigest(before); ok {
		after.Name = before.Name
		m.rememberDigest(after, k)
	}
}
