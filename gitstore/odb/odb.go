// Package odb is the object database of a Git repository. It reads objects wherever Git
// stores them (loose, in packs, in alternates), and writes groups of new objects so that
// they survive a power failure and a concurrent garbage collection.
//
// A [Database] reads; any number of goroutines may use one. A [Batch] collects the objects
// of one change: [Batch.Add], then [Batch.Sync] before the refs that need them move, then
// [Batch.Settle]. Package chunked stores content that is too large for one blob.
//
// Packs are memory-mapped and read by goroutines without locks, which is more than twice
// as fast as go-git (BenchmarkReadPacked).
//
// The formats are those of gitformat-pack(5), gitformat-loose(5) and
// gitrepository-layout(5), with SHA-1 ids. The caller of [Open] ensures that the object
// format of the repository is SHA-1.
package odb

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/pjbgf/sha1cd"
)

// maxObject is the size in bytes above which an object is neither written nor read in one piece,
// so that a small file cannot exhaust the memory. This program stores content over 16 MiB in chunks;
// the limit leaves room for objects of other programs.
const maxObject = 256 << 20

// An ID is the SHA-1 of an object's type, size and content.
type ID [20]byte

// String returns the 40 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the id is all zeros, which Git uses for "no object".
func (id ID) IsZero() bool { return id == ID{} }

// ParseID parses 40 hexadecimal digits. Anything else is [domarkx.ErrInvalid].
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return ID{}, fmt.Errorf("object id %q: %w, expected 40 hexadecimal digits", s, domarkx.ErrInvalid)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("object id %q: %w, expected 40 hexadecimal digits", s, domarkx.ErrInvalid)
	}
	return id, nil
}

// A Type is the type of an object. The numbers are those of gitformat-pack(5).
type Type uint8

// The four types of objects.
const (
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
	Tag    Type = 4
)

// String returns Git's name of the type: commit, tree, blob or tag.
func (t Type) String() string {
	switch t {
	case Commit:
		return "commit"
	case Tree:
		return "tree"
	case Blob:
		return "blob"
	case Tag:
		return "tag"
	}
	return "type " + strconv.Itoa(int(t))
}

// parseType is the inverse of [Type.String].
func parseType(name string) (Type, bool) {
	for t := Commit; t <= Tag; t++ {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// appendHeader appends the header of an object's hash and of loose objects: type, space, size in
// decimal, NUL.
func appendHeader(b []byte, t Type, size int) []byte {
	b = append(b, t.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}

// Sum returns the id of an object.
func Sum(t Type, data []byte) ID {
	h := sha1.New()
	var header [32]byte
	h.Write(appendHeader(header[:0], t, len(data)))
	h.Write(data)
	var id ID
	h.Sum(id[:0])
	return id
}

// carefulHashes are hashes that detect SHA-1 collisions. They are reused, since creating one costs
// more than hashing a small object.
var carefulHashes = sync.Pool{New: func() any { return sha1cd.New() }}

// sumNew returns the id of new content. Content that was built to cause a SHA-1 collision is
// [domarkx.ErrInvalid]: Git refuses to use a repository with such an object, and two different
// contents would become one.
func sumNew(t Type, data []byte) (ID, error) {
	h := carefulHashes.Get().(hash.Hash)
	defer carefulHashes.Put(h)
	h.Reset()
	var header [32]byte
	h.Write(appendHeader(header[:0], t, len(data)))
	h.Write(data)
	var id ID
	if _, collides := h.(sha1cd.CollisionResistantHash).CollisionResistantSum(id[:0]); collides {
		return ID{}, fmt.Errorf("%s of %d bytes: %w: its content is built to cause a SHA-1 collision, and Git refuses it", t, len(data), domarkx.ErrInvalid)
	}
	return id, nil
}
