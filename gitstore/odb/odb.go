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
// The formats are those of gitformat-pack(5), gitformat-loose(5) and gitrepository-layout(5), with ids of either hash
// function. The caller of [Open] says which one the repository uses.
package odb

import (
	"fmt"
	"hash"
	"slices"
	"strconv"
	"sync"

	"github.com/pjbgf/sha1cd"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// maxObject is the size in bytes above which an object is not written or read in one piece, so that a small file cannot
// exhaust the memory. This program stores content of more than 16 MiB in chunks. The limit is higher, since other
// programs store larger objects.
const maxObject = 256 << 20

// An ID is the hash of an object's type, size and content.
type ID = oid.ID

// ParseID parses an id of either hash function, and returns [domarkx.ErrInvalid] for anything else. An id of another
// hash function than the repository's names no object in it.
func ParseID(s string) (ID, error) { return oid.Parse(s) }

// A Type is the type of an object. The numbers are those of gitformat-pack(5).
type Type uint8

// The four types of objects.
const (
	Commit Type = 1
	Tree   Type = 2
	Blob   Type = 3
	Tag    Type = 4
)

var typeNames = [...]string{Commit: "commit", Tree: "tree", Blob: "blob", Tag: "tag"}

// String returns Git's name of the type: commit, tree, blob or tag.
func (t Type) String() string {
	if t < Commit || t > Tag {
		return "type " + strconv.Itoa(int(t))
	}
	return typeNames[t]
}

// parseType is the inverse of [Type.String].
func parseType(name string) (Type, bool) {
	i := slices.Index(typeNames[:], name)
	return Type(i), i > 0
}

// appendHeader appends the header with which Git hashes and stores an object: type, space, size in decimal, NUL.
func appendHeader(b []byte, t Type, size int) []byte {
	b = append(b, t.String()...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, 0)
}

// Sum returns the id of the object with that type and content.
func Sum(by oid.Hash, t Type, data []byte) ID {
	h := by.New()
	var header, sum [32]byte
	h.Write(appendHeader(header[:0], t, len(data)))
	h.Write(data)
	return oid.FromBytes(h.Sum(sum[:0]))
}

// carefulHashes contains hashes that detect SHA-1 collisions. They are reused, since creating one takes longer than
// hashing a small object.
var carefulHashes = sync.Pool{New: func() any { return sha1cd.New() }}

// sumNew returns the id of new content. It returns [domarkx.ErrInvalid] for content that was made to cause a SHA-1
// collision: with such an object in a repository, Git refuses to use it, and two different contents would have one id.
func sumNew(by oid.Hash, t Type, data []byte) (ID, error) {
	if by != oid.SHA1 {
		return Sum(by, t, data), nil
	}
	h := carefulHashes.Get().(hash.Hash)
	defer carefulHashes.Put(h)
	h.Reset()
	var header, sum [32]byte
	h.Write(appendHeader(header[:0], t, len(data)))
	h.Write(data)
	id, collides := h.(sha1cd.CollisionResistantHash).CollisionResistantSum(sum[:0])
	if collides {
		return ID{}, fmt.Errorf("%s of %d bytes: %w: its content is built to cause a SHA-1 collision, and Git refuses it", t, len(data), domarkx.ErrInvalid)
	}
	return oid.FromBytes(id), nil
}
