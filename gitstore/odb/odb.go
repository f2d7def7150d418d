// Package odb reads and writes the object database of a Git repository. It reads objects wherever Git stores them
// (loose, in packs, in alternates), and writes groups of new objects so that they survive a power failure and a
// concurrent garbage collection.
//
// A [Database] reads; several goroutines may use it at once. A [Batch] collects the objects of one change. The caller
// adds them with [Batch.Add], calls [Batch.Sync] before refs move to them, and [Batch.Settle] afterwards. Package
// chunked stores content that is too large for one blob.
//
// Packs are mapped into memory, and goroutines read them without locks, which is more than twice as fast as go-git
// (BenchmarkReadPacked).
//
// The formats are those of gitformat-pack(5), gitformat-loose(5) and gitrepository-layout(5), with SHA-1 ids. The
// caller of [Open] makes sure that the object format of the repository is SHA-1.
package odb

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/pjbgf/sha1cd"
)

// maxObject is the size in bytes above which an object is not written or read in one piece, so that a small file cannot
// exhaust the memory. This program stores content of more than 16 MiB in chunks. The limit is higher, since other
// programs store larger objects.
const maxObject = 256 << 20

// An ID is the SHA-1 of an object's type, size and content.
type ID [20]byte

// String returns the 40 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether all digits of the id are zeros, which Git uses for "no object".
func (id ID) IsZero() bool { return id == ID{} }

// ParseID parses an id of 40 hexadecimal digits, and returns [domarkx.ErrInvalid] for anything else.
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

// appendHeader appends the header with which Git hashes and stores an object: type, space, size in decimal, NUL.
func appendHeader(b []byte, t Type, size int) []byte {
	b = append(b, t.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}

// Sum returns the id of the object with that type and content.
func Sum(t Type, data []byte) ID {
	h := sha1.New()
	var header [32]byte
	h.Write(appendHeader(header[:0], t, len(data)))
	h.Write(data)
	var id ID
	h.Sum(id[:0])
	return id
}

// carefulHashes contains hashes that detect SHA-1 collisions. They are reused, since creating one takes longer than
// hashing a small object.
var carefulHashes = sync.Pool{New: func() any { return sha1cd.New() }}

// sumNew returns the id of new content. It returns [domarkx.ErrInvalid] for content that was made to cause a SHA-1
// collision: with such an object in a repository, Git refuses to use it, and two different contents would have one id.
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
