package odb_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// benchTree returns the entries of a directory of n files.
func benchTree(n int) []odb.TreeEntry {
	entries := make([]odb.TreeEntry, n)
	for i := range entries {
		entries[i] = odb.TreeEntry{Mode: odb.ModeFile, Name: fmt.Sprintf("file%04d.go", i), ID: odb.Sum(oid.SHA1, odb.Blob, fmt.Append(nil, i))}
	}
	return entries
}

// BenchmarkDecodeTree decodes a directory of 50 files, with this package and with go-git.
// Walking a version decodes one tree per directory.
func BenchmarkDecodeTree(b *testing.B) {
	data, err := odb.EncodeTree(oid.SHA1, benchTree(50))
	must(b, err)
	b.Run("odb", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := odb.DecodeTree(oid.SHA1, data)
			must(b, err)
		}
	})
	b.Run("go-git", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var tree object.Tree
			must(b, tree.Decode(&encodedTree{data: data}))
		}
	})
}

// BenchmarkEncodeTree encodes a directory of 50 files, with this package and with go-git.
// Importing a session encodes several trees per message.
func BenchmarkEncodeTree(b *testing.B) {
	entries := benchTree(50)
	b.Run("odb", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := odb.EncodeTree(oid.SHA1, entries)
			must(b, err)
		}
	})
	b.Run("go-git", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tree := object.Tree{Entries: make([]object.TreeEntry, len(entries))}
			for i, e := range entries {
				tree.Entries[i] = object.TreeEntry{Name: e.Name, Mode: filemode.FileMode(e.Mode), Hash: plumbing.Hash(e.ID.Bytes())}
			}
			var encoded plumbing.MemoryObject
			must(b, tree.Encode(&encoded))
			r, err := encoded.Reader()
			must(b, err)
			_, err = io.ReadAll(r)
			must(b, err)
		}
	})
}

// encodedTree is a tree in memory that go-git decodes without hashing it.
type encodedTree struct {
	plumbing.MemoryObject
	data []byte
}

func (o *encodedTree) Hash() plumbing.Hash       { return plumbing.ZeroHash }
func (o *encodedTree) Type() plumbing.ObjectType { return plumbing.TreeObject }
func (o *encodedTree) Size() int64               { return int64(len(o.data)) }
func (o *encodedTree) Reader() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(o.data)), nil
}
