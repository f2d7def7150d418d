package importer

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// A prefixCheck reads a document that may have grown: it verifies that the part that was imported is unchanged, and computes the
// SHA-256 of the whole.
//
// Hashing the old part anew would take most of the time of an import of one turn. After the first growth it is verified by
// its seal in place of its SHA-256, which takes a quarter of the time, and the SHA-256 of the whole continues from its state at the end of the old part.
type prefixCheck struct {
	known  sources.Source
	sealed bool      // the old part is verified by its seal
	digest hash.Hash // of what was read, or of the old part until verified is called
	seal   *sealer
	isOld  bool // the old part is being read
}

// newPrefixCheck returns a check of a document with a record of its growth.
func newPrefixCheck(known sources.Source) (*prefixCheck, error) {
	c := &prefixCheck{known: known, digest: sha256.New(), isOld: true}
	var key []byte
	if s := known.Growth.Seal; s != nil && len(s.Key) == sealKeySize && c.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.State) == nil && c.sum() == known.Digest {
		c.sealed, key = true, s.Key
	} else {
		c.digest.Reset() // a damaged seal counts like none
	}
	var err error
	c.seal, err = newSealer(key)
	return c, err
}

func (c *prefixCheck) sum() string { return hex.EncodeToString(c.digest.Sum(nil)) }

// Write continues with the next part of the document.
func (c *prefixCheck) Write(p []byte) (int, error) {
	if !c.sealed || !c.isOld {
		c.digest.Write(p)
	}
	c.seal.write(p)
	return len(p), nil
}

// verified reports whether the old part is unchanged. It must be called when exactly that part was written; everything written
// after the call belongs to the new part.
func (c *prefixCheck) verified() bool {
	c.isOld = false
	if c.sealed {
		sum := c.seal.sum()
		return bytes.Equal(sum[:], c.known.Growth.Seal.Sum)
	}
	return c.sum() == c.known.Digest
}

// result returns the SHA-256 of all that was written, and its seal.
func (c *prefixCheck) result() (digest [32]byte, seal *sources.Seal, err error) {
	state, err := c.digest.(encoding.BinaryMarshaler).MarshalBinary()
	sum := c.seal.sum()
	return [32]byte(c.digest.Sum(nil)), &sources.Seal{Key: c.seal.key, Sum: sum[:], State: state}, err
}

const (
	sealKeySize = 16
	sealChunk   = 32 << 10 // the unit in which io.CopyN reads
)

// A sealer computes the seal of a document: a message authentication code under a random key, which the record of imports has alone.
// Another document has the same one with a probability of less than 2^-100, whatever it is. It is the SHA-256 of the codes that AES-GCM gives to the
// document's chunks, which processors compute several times as fast as SHA-256.
type sealer struct {
	key    []byte
	aead   cipher.AEAD
	chunks uint64 // whole ones
	codes  []byte // of whole chunks
	rest   []byte // the beginning of the next chunk
}

// newSealer returns a sealer with a key, or with a new one.
func newSealer(key []byte) (*sealer, error) {
	if key == nil {
		key = make([]byte, sealKeySize)
		rand.Read(key) //nolint:errcheck // it never fails
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{key: key, aead: aead}, err
}

func (s *sealer) write(p []byte) {
	for len(p) > 0 {
		if len(s.rest) == 0 && len(p) >= sealChunk {
			s.codes = s.code(s.codes, p[:sealChunk])
			s.chunks++
			p = p[sealChunk:]
			continue
		}
		n := min(sealChunk-len(s.rest), len(p))
		s.rest = append(s.rest, p[:n]...)
		p = p[n:]
		if len(s.rest) == sealChunk {
			s.codes = s.code(s.codes, s.rest)
			s.chunks++
			s.rest = s.rest[:0]
		}
	}
}

// code appends the code of the next chunk.
func (s *sealer) code(codes, chunk []byte) []byte {
	var nonce [12]byte
	binary.BigEndian.PutUint64(nonce[4:], s.chunks)
	return s.aead.Seal(codes, nonce[:], nil, chunk)
}

// sum returns the seal of what was written.
func (s *sealer) sum() [32]byte {
	return sha256.Sum256(s.code(s.codes[:len(s.codes):len(s.codes)], s.rest))
}
