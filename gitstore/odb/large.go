package odb

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"
)

// LargeThreshold is the size in bytes above which content is stored by
// [Batch.AddLarge] and not as one blob. So is content that itself reads as a
// pointer ([IsPointer]), whatever its size.
const LargeThreshold = 16 << 20

// A node of a chunk tree has that many entries at most, and, unless it is the last
// of its level, at least.
const (
	minNode = 16
	maxNode = 256
)

// A child is an entry of a node: a chunk, or a node of the level below.
type child struct {
	id   ID
	node bool
	size int64 // bytes of content
}

// endsNode reports whether a node that has n entries ends with this one: where the
// entry's own id says so (one in 64), that a change moves no end but the next ones.
func endsNode(n int, last child) bool {
	return n >= minNode && last.id[len(last.id)-1]&63 == 0 || n == maxNode
}

// nodeEntries returns the entries of a node's tree. A name is the number of the
// entry and its size, both hexadecimal; the number puts them into Git's order.
func nodeEntries(children []child) []TreeEntry {
	entries := make([]TreeEntry, len(children))
	for i, c := range children {
		mode := ModeFile
		if c.node {
			mode = ModeTree
		}
		entries[i] = TreeEntry{Mode: mode, Name: fmt.Sprintf("%02x-%x", i, c.size), ID: c.id}
	}
	return entries
}

// A chunkTree is being written: of each level the entries that have no node yet.
type chunkTree struct {
	b      *Batch
	levels [][]child
}

func (t *chunkTree) push(level int, c child) error {
	if level == len(t.levels) {
		t.levels = append(t.levels, nil)
	}
	t.levels[level] = append(t.levels[level], c)
	if endsNode(len(t.levels[level]), c) {
		return t.end(level)
	}
	return nil
}

// end makes a node of the entries of a level.
func (t *chunkTree) end(level int) error {
	children := t.levels[level]
	t.levels[level] = children[:0]
	node := child{node: true}
	for _, c := range children {
		node.size += c.size
	}
	var err error
	if node.id, err = t.b.AddTree(nodeEntries(children)); err != nil {
		return err
	}
	return t.push(level+1, node)
}

// root ends all levels and returns the one node that stands above all.
func (t *chunkTree) root() (ID, error) {
	if len(t.levels) == 0 {
		return t.b.AddTree(nil)
	}
	for level := 0; ; level++ {
		top := level == len(t.levels)-1
		if top && level > 0 && len(t.levels[level]) == 1 {
			return t.levels[level][0].id, nil
		}
		if len(t.levels[level]) > 0 {
			if err := t.end(level); err != nil {
				return ID{}, err
			}
		}
	}
}

// AddLarge cuts what r gives into chunks and adds them, the tree above them, and
// the pointer blob to the batch. The pointer stands where the content would; chunks,
// a tree, must be reachable beside it, since for Git the pointer is only text. Equal
// content has equal ids. Memory use does not depend on the size. See SPEC.md.
func (b *Batch) AddLarge(r io.Reader) (pointer ID, chunks ID, size int64, err error) {
	hash := sha256.New()
	tree := chunkTree{b: b}
	err = eachChunk(r, func(chunk []byte) error {
		hash.Write(chunk)
		size += int64(len(chunk))
		id, err := b.Add(Blob, chunk)
		if err != nil {
			return err
		}
		return tree.push(0, child{id: id, size: int64(len(chunk))})
	})
	if err == nil {
		chunks, err = tree.root()
	}
	p := Pointer{Size: size, Chunks: chunks}
	hash.Sum(p.SHA256[:0])
	if err == nil {
		pointer, err = b.Add(Blob, p.Encode())
	}
	if err != nil {
		return ID{}, ID{}, 0, fmt.Errorf("add large content after %d bytes: %w", size, err)
	}
	return pointer, chunks, size, nil
}

// parseChildName reads the number and size of a node's entry, as [nodeEntries]
// writes them and in no other spelling.
func parseChildName(name string) (number int, size int64, ok bool) {
	if len(name) < 4 || name[2] != '-' {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(name[:2], 16, 8)
	size, err2 := strconv.ParseInt(name[3:], 16, 64)
	if err != nil || err2 != nil || name != fmt.Sprintf("%02x-%x", n, size) {
		return 0, 0, false
	}
	return int(n), size, true
}
