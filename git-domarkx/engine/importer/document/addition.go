package document

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
	"io"
	"os"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
)

// maxGrowth is the maximum size in bytes of a new part, which is held in memory. If a document became longer by more,
// it is imported in the ordinary way, which reads it piece by piece.
const maxGrowth = 16 << 20

// An Addition is what a file has more than at its last import.
type Addition struct {
	Size   int64 // of the file
	Digest [sha256.Size]byte
	Seal   *sources.Seal
	Unread []byte // content after the part that need not be decoded again
	Added  []byte // content after the old end
	Stamp  string // of the file before it was read; see [sources.Source]
}

// ReadAddition reads the bytes that were appended to a file. It returns nil if the old part has changed.
func ReadAddition(path string, known sources.Source) (*Addition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < known.Growth.Size || known.Growth.Read > known.Growth.Size {
		return nil, err
	}
	check, err := newPrefixCheck(known)
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(check, f, known.Growth.Read); err != nil {
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxGrowth+1))
	if err != nil || len(rest) > maxGrowth {
		return nil, err
	}
	before := known.Growth.Size - known.Growth.Read
	if int64(len(rest)) < before {
		return nil, nil
	}
	check.Write(rest[:before]) //nolint:errcheck // it never fails
	if !check.verified() {
		return nil, nil
	}
	check.Write(rest[before:]) //nolint:errcheck // it never fails
	more := &Addition{Size: known.Growth.Read + int64(len(rest)), Unread: rest, Added: rest[before:], Stamp: Stamp(info, time.Now())}
	more.Digest, more.Seal, err = check.result()
	return more, err
}

// A prefixCheck is a writer to which a document is written that may have become longer. It verifies that the part that
// was imported before (the old part) is unchanged, and computes the SHA-256 of the whole document.
//
// To hash the old part each time would take most of the time of an import of one turn. So after the document has first
// become longer, the old part is verified by its seal, which takes a quarter of the time. The SHA-256 of the whole
// continues from the stored state of the hash at the end of the old part.
type prefixCheck struct {
	known  sources.Source
	sealed bool      // whether the old part is verified by its seal
	digest hash.Hash // of what was written; if sealed, of the old part from the beginning
	seal   *sealer
	isOld  bool // whether the old part is being written
}

// newPrefixCheck returns a check for a document whose old part is recorded.
func newPrefixCheck(known sources.Source) (*prefixCheck, error) {
	c := &prefixCheck{known: known, digest: sha256.New(), isOld: true}
	var key []byte
	if s := known.Growth.Seal; s != nil && len(s.Key) == sealKeySize && c.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.State) == nil && c.sum() == known.Digest {
		c.sealed, key = true, s.Key
	} else {
		c.digest.Reset() // there is no seal, or it is damaged
	}
	var err error
	c.seal, err = newSealer(key)
	return c, err
}

func (c *prefixCheck) sum() string { return hex.EncodeToString(c.digest.Sum(nil)) }

// Write takes the next part of the document.
func (c *prefixCheck) Write(p []byte) (int, error) {
	if !c.sealed || !c.isOld {
		c.digest.Write(p)
	}
	c.seal.write(p)
	return len(p), nil
}

// verified reports whether the old part is unchanged. It must be called when exactly that part was written. What is
// written after the call is the new part.
func (c *prefixCheck) verified() bool {
	c.isOld = false
	if c.sealed {
		sum := c.seal.sum()
		return bytes.Equal(sum[:], c.known.Growth.Seal.Sum)
	}
	return c.sum() == c.known.Digest
}

// result returns the SHA-256 of all that was written, and the seal of it.
func (c *prefixCheck) result() (digest [32]byte, seal *sources.Seal, err error) {
	state, err := c.digest.(encoding.BinaryMarshaler).MarshalBinary()
	sum := c.seal.sum()
	return [32]byte(c.digest.Sum(nil)), &sources.Seal{Key: c.seal.key, Sum: sum[:], State: state}, err
}

const (
	sealKeySize = 16
	sealChunk   = 32 << 10 // bytes; io.CopyN reads as many at a time
)

// A sealer computes the seal of a document: a message authentication code with a random key that only the record of
// imports contains. The probability that another document has the same seal is less than 2^-100, whatever the document
// is. The seal is the SHA-256 of the codes that AES-GCM computes for the document's chunks. Processors compute these
// codes several times as fast as SHA-256.
type sealer struct {
	key    []byte
	aead   cipher.AEAD
	chunks uint64 // number of whole chunks
	codes  []byte // codes of the whole chunks
	rest   []byte // beginning of the next chunk
}

// newSealer returns a sealer with a key, or with a new one if key is nil.
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

// code appends the code of the next chunk to codes.
func (s *sealer) code(codes, chunk []byte) []byte {
	var nonce [12]byte
	binary.BigEndian.PutUint64(nonce[4:], s.chunks)
	return s.aead.Seal(codes, nonce[:], nil, chunk)
}

// sum returns the seal of all that was written.
func (s *sealer) sum() [32]byte {
	return sha256.Sum256(s.code(s.codes[:len(s.codes):len(s.codes)], s.rest))
}
