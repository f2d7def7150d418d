package gitstore

import (
	"crypto/sha256"
	"fmt"

	"github.com/domarkx/domarkx"
)

// A memo caches the results of checks. Its memory is limited; forgotten checks are repeated.
type memo map[memoKey]error

// A memoKey identifies a check.
type memoKey [16]byte

// maxMemo is the maximum number of cached results: about 100 MB.
const maxMemo = 1 << 20

// blobKey identifies the check of a blob in a certain use.
func blobKey(as string, b domarkx.Blob) memoKey {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s", as, b.ID, b.Chunks))
	return memoKey(sum[:16])
}

// once runs a check, or returns its cached result.
func (m memo) once(key memoKey, check func() error) error {
	err, done := m[key]
	if !done {
		err = check()
		m.note(key, err)
	}
	return err
}

func (m memo) note(key memoKey, err error) {
	if len(m) >= maxMemo {
		clear(m)
	}
	m[key] = err
}

func (m memo) has(key memoKey) bool {
	_, done := m[key]
	return done
}
