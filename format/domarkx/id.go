package domarkx

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// An ID identifies a message permanently: 128 bits, written as 32 lower-case hexadecimal digits. Of
// messages inserted after the same one, the one with the greater id comes first. An id begins with
// a clock of four bytes, so that a later insertion can precede all earlier ones. In ids from
// [NewID], four bytes follow that fall with time, so that of runs appended concurrently the earlier
// one comes first.
type ID [16]byte

// A Rev identifies one revision of a message's text (or of a header): 64 bits, written as 16
// hexadecimal digits. The zero Rev is the text with which a message was inserted.
type Rev [8]byte

// String returns the 32 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// String returns the 16 hexadecimal digits.
func (r Rev) String() string { return hex.EncodeToString(r[:]) }

// IsZero reports whether the id is zero, which stands for the beginning of the thread.
func (id ID) IsZero() bool { return id == ID{} }

// Clock returns the part of an id that orders messages inserted after the same one.
func (id ID) Clock() uint32 { return binary.BigEndian.Uint32(id[:4]) }

func withClock(clock uint32, rest []byte) ID {
	var id ID
	binary.BigEndian.PutUint32(id[:4], clock)
	copy(id[4:], rest)
	return id
}

// NewID returns a new unique id with the given clock and creation time.
func NewID(clock uint32, at time.Time) ID {
	var rest [12]byte
	binary.BigEndian.PutUint32(rest[:4], ^uint32(at.Unix()))
	rand.Read(rest[4:]) // never fails (crypto/rand)
	return withClock(clock, rest[:])
}

// DeriveID returns an id with the given clock that depends only on the parts: importing one
// document on two machines results in the same ids.
func DeriveID(clock uint32, parts ...[]byte) ID {
	sum := digest("id", parts...)
	return withClock(clock, sum[:12])
}

// DeriveRev returns a revision that depends only on the parts.
func DeriveRev(parts ...[]byte) Rev {
	sum := digest("rev", parts...)
	return Rev(sum[:8])
}

// digest hashes parts with their lengths, so that different lists of parts never have the same
// input.
func digest(domain string, parts ...[]byte) [32]byte {
	h := sha256.New()
	var n [8]byte
	for _, part := range append([][]byte{[]byte("domarkx " + domain)}, parts...) {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}

// ParseID parses 32 hexadecimal digits. The error is [ErrInvalid].
func ParseID(s string) (ID, error) {
	var id ID
	if n, err := hex.Decode(id[:], []byte(s[:min(len(s), 32)])); err != nil || n != len(id) || len(s) != 32 {
		return ID{}, fmt.Errorf("message id %q: %w, expected 32 hexadecimal digits", s, ErrInvalid)
	}
	return id, nil
}

// ParseRev parses 16 hexadecimal digits. The error is [ErrInvalid].
func ParseRev(s string) (Rev, error) {
	var r Rev
	if n, err := hex.Decode(r[:], []byte(s[:min(len(s), 16)])); err != nil || n != len(r) || len(s) != 16 {
		return Rev{}, fmt.Errorf("revision %q: %w, expected 16 hexadecimal digits", s, ErrInvalid)
	}
	return r, nil
}

func compareID(a, b ID) int   { return bytes.Compare(a[:], b[:]) }
func compareRev(a, b Rev) int { return bytes.Compare(a[:], b[:]) }

// unionRevs returns the revisions in a or b, sorted, without duplicates.
func unionRevs(a, b []Rev) []Rev {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, compareRev)
	return slices.Compact(all)
}
