// Package oid has the ids of Git objects, with both hash functions that a repository can use
// (gitformat-hash-function-transition(7)).
package oid

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"unicode"

	"github.com/domarkx/domarkx/format/domarkx"
)

// A Hash is the hash function of a repository, its "object format" (git-init(1)).
type Hash uint8

// The hash functions of Git. The zero value is the one that Git used before it had others.
const (
	SHA1 Hash = iota
	SHA256
)

// ParseHash returns the hash function with Git's name for it, "sha1" or "sha256", and [domarkx.ErrUnsupported] for
// another name.
func ParseHash(name string) (Hash, error) {
	for h := SHA1; h <= SHA256; h++ {
		if h.String() == name {
			return h, nil
		}
	}
	return SHA1, fmt.Errorf("hash function %q: %w", name, domarkx.ErrUnsupported)
}

// String returns Git's name of the hash function.
func (h Hash) String() string {
	if h == SHA256 {
		return "sha256"
	}
	return "sha1"
}

// Size returns the number of bytes of an id.
func (h Hash) Size() int {
	if h == SHA256 {
		return sha256.Size
	}
	return sha1.Size
}

// HexSize returns the number of hexadecimal digits of an id.
func (h Hash) HexSize() int { return hex.EncodedLen(h.Size()) }

// New returns the hash function, as it computes checksums of files and ids of objects.
func (h Hash) New() hash.Hash {
	if h == SHA256 {
		return sha256.New()
	}
	return sha1.New()
}

// Parse is like the function [Parse], and returns [domarkx.ErrInvalid] for an id of another hash function, too.
func (h Hash) Parse(s string) (ID, error) {
	if len(s) != h.HexSize() {
		return ID{}, fmt.Errorf("object id %q: %w, expected the %d hexadecimal digits of %s", s, domarkx.ErrInvalid, h.HexSize(), h)
	}
	return Parse(s)
}

// An ID is the id of an object, of either hash function. The zero ID stands for "no object". IDs are equal (==) if
// they have the same hash function and the same bytes.
type ID struct {
	size uint8 // in bytes; 0 for the zero ID
	sum  [sha256.Size]byte
}

// FromBytes returns the id with these bytes, which are all bytes of an id of either hash function. It returns the zero
// ID for any other number of bytes, and for bytes that are all zero.
func FromBytes(b []byte) ID {
	var id ID
	if len(b) != sha1.Size && len(b) != sha256.Size {
		return id
	}
	copy(id.sum[:], b)
	if id != (ID{}) {
		id.size = uint8(len(b))
	}
	return id
}

// Parse parses an id of 40 or 64 hexadecimal digits, and returns [domarkx.ErrInvalid] for anything else. Git writes
// "no object" as zeros: for these Parse returns the zero ID.
func Parse(s string) (ID, error) {
	var sum [sha256.Size]byte
	if len(s) == SHA1.HexSize() || len(s) == SHA256.HexSize() {
		if n, err := hex.Decode(sum[:], []byte(s)); err == nil {
			return FromBytes(sum[:n]), nil
		}
	}
	return ID{}, fmt.Errorf("object id %q: %w, expected %d or %d hexadecimal digits", s, domarkx.ErrInvalid, SHA1.HexSize(), SHA256.HexSize())
}

// IsHex reports whether s is an id of either hash function as Git prints it: in lower-case hexadecimal digits.
func IsHex(s string) bool {
	if len(s) != SHA1.HexSize() && len(s) != SHA256.HexSize() {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// FindHex returns the ids of either hash function in a text, as Git prints them.
func FindHex(text string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if IsHex(word) {
			found = append(found, word)
		}
	}
	return found
}

// Bytes returns the bytes of the id, none for the zero ID. The caller must not change them.
func (id *ID) Bytes() []byte { return id.sum[:id.size] }

// AppendTo appends the bytes of the id to dst.
func (id ID) AppendTo(dst []byte) []byte { return append(dst, id.sum[:id.size]...) }

// String returns the lower-case hexadecimal digits, for the zero ID the 40 zeros of SHA-1.
func (id ID) String() string {
	if id.size == 0 {
		return hex.EncodeToString(id.sum[:sha1.Size])
	}
	return hex.EncodeToString(id.Bytes())
}

// IsZero reports whether the id stands for "no object".
func (id ID) IsZero() bool { return id == ID{} }

// IsOf reports whether the id is one of a hash function.
func (id ID) IsOf(h Hash) bool { return int(id.size) == h.Size() }

// Hash returns the hash function of an id that is not zero.
func (id ID) Hash() Hash {
	if id.IsOf(SHA256) {
		return SHA256
	}
	return SHA1
}

// First returns the first byte, by which Git divides objects among directories and the entries of indexes.
func (id ID) First() byte { return id.sum[0] }

// Last returns the last byte of an id that is not zero.
func (id ID) Last() byte { return id.sum[id.size-1] }

// Compare compares two ids by their bytes, as Git sorts them.
func (id ID) Compare(other ID) int { return bytes.Compare(id.Bytes(), other.Bytes()) }
