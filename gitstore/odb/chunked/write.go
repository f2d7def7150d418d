package chunked

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strconv"

	"github.com/domarkx/domarkx/gitstore/odb"
)

// Threshold is the size in bytes above which content is stored in chunks ([Add]) instead of in one blob. Smaller
// content is stored with Add only if it has the form of a pointer ([IsPointer]).
const Threshold = 16 << 20

// The number of entries of a node of a chunk tree. The last node of a level may have fewer
// than minNode.
const (
	minNode = 16
	maxNode = 256
)

// A child is an entry of a node: a chunk, or a node of the level below.
type child struct {
	id   odb.ID
	node bool
	size int64 // bytes of content
}

// endsNode reports whether a node ends with an entry, which is its n-th. This depends on the id of the entry, and is so
// for one id in 64: so that a change of the content changes few nodes.
func endsNode(n int, last child) bool {
	return n >= minNode && last.id.Last()&63 == 0 || n == maxNode
}

// nodeEntries returns the entries of a node's tree. The name of an entry is its number and its size, both hexadecimal.
// The number comes first, because Git sorts entries by name.
func nodeEntries(children []child) []odb.TreeEntry {
	entries := make([]odb.TreeEntry, len(children))
	for i, c := range children {
		mode := odb.ModeFile
		if c.node {
			mode = odb.ModeTree
		}
		entries[i] = odb.TreeEntry{Mode: mode, Name: fmt.Sprintf("%02x-%x", i, c.size), ID: c.id}
	}
	return entries
}

// A chunkTree writes a chunk tree. Its levels contain the entries that are not in a written node yet.
type chunkTree struct {
	b      *odb.Batch
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

// end writes the entries of a level as a node.
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

// root writes the remaining nodes of all levels, and returns the id of the root.
func (t *chunkTree) root() (odb.ID, error) {
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
				return odb.ID{}, err
			}
		}
	}
}

// Add cuts the content of r into chunks, and adds the chunks, the chunk tree and the pointer to the batch. It returns
// the ids of pointer and chunk tree and the size in bytes. The caller stores the pointer in place of the content and
// the chunk tree beside it, because Git does not know that the pointer needs the chunks. Equal content has equal ids.
// Memory use does not depend on the size.
func Add(b *odb.Batch, r io.Reader) (pointer, chunks odb.ID, size int64, err error) {
	hash := sha256.New()
	tree := chunkTree{b: b}
	err = eachChunk(r, func(chunk []byte) error {
		hash.Write(chunk)
		size += int64(len(chunk))
		id, err := b.Add(odb.Blob, chunk)
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
		pointer, err = b.Add(odb.Blob, p.Encode())
	}
	if err != nil {
		return odb.ID{}, odb.ID{}, 0, fmt.Errorf("add large content after %d bytes: %w", size, err)
	}
	return pointer, chunks, size, nil
}

// parseChildName decodes the name of a node's entry. It accepts only the spelling of
// [nodeEntries].
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
