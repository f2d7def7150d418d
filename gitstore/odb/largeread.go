package odb

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"sort"
	"sync"

	"github.com/domarkx/domarkx"
)

// maxChunkTree is the depth of the deepest chunk tree that is read. Two entries a
// node are the fewest that a tree of any size can have on average.
const maxChunkTree = 48

// A Large is large content opened for reading. [Large.ReadAt] may be called from
// several goroutines at once and checks each chunk against its id, or against the
// checksum that a pack's index has of it; [Large.Read] reads it in order and checks the
// whole against its SHA-256 too.
type Large struct {
	d       *Database
	pointer Pointer
	root    child

	mu    sync.Mutex         // guards what was read last
	path  []node             // from the root to a lowest node
	parts [keptParts]partial // of which the rest is likely to be wanted
	next  int                // in parts

	offset int64 // of Read
	sum    hash.Hash
}

// keptParts is how many chunks are kept that were read in part: one for each of those
// who read what follows each other at once.
const keptParts = 4

// A partial is a chunk of which only a part was wanted.
type partial struct {
	at   int64 // where it begins
	data []byte
}

// A node is a part of the content and what it consists of.
type node struct {
	id       ID
	size     int64
	children []child
	ends     []int64 // of the children, from the node's start
}

// OpenLarge opens the content that the pointer blob stands for; chunks is the tree
// that stands beside it. A pointer that is none, or one to another tree, is
// [domarkx.ErrCorrupt].
func (d *Database) OpenLarge(pointer ID, chunks ID) (*Large, int64, error) {
	data, err := d.Blob(pointer)
	if err != nil {
		return nil, 0, fmt.Errorf("open large content: %w", err)
	}
	p, err := DecodePointer(data)
	if err != nil {
		return nil, 0, fmt.Errorf("open large content: %w: blob %s is no pointer", domarkx.ErrCorrupt, pointer)
	}
	if p.Chunks != chunks {
		return nil, 0, fmt.Errorf("open large content: %w: pointer %s is to %s, but %s is beside it", domarkx.ErrCorrupt, pointer, p.Chunks, chunks)
	}
	l := &Large{d: d, pointer: p, root: child{id: chunks, node: true, size: p.Size}, sum: sha256.New()}
	if _, err := l.node(l.root); err != nil {
		return nil, 0, fmt.Errorf("open large content: %w", err)
	}
	return l, p.Size, nil
}

// Size returns the number of bytes.
func (l *Large) Size() int64 { return l.pointer.Size }

// Close gives back memory. The content can still be read.
func (l *Large) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path, l.parts = nil, [keptParts]partial{}
	return nil
}

// Read reads the content in order. At the end of content that is not what was
// written it returns [domarkx.ErrCorrupt] in place of [io.EOF].
func (l *Large) Read(p []byte) (int, error) {
	if l.offset == l.pointer.Size {
		if [32]byte(l.sum.Sum(nil)) != l.pointer.SHA256 {
			return 0, fmt.Errorf("read large content: %w: its SHA-256 differs", domarkx.ErrCorrupt)
		}
		return 0, io.EOF
	}
	n, err := l.ReadAt(p[:min(int64(len(p)), l.pointer.Size-l.offset)], l.offset)
	l.sum.Write(p[:n])
	l.offset += int64(n)
	return n, err
}

// ReadAt reads at an offset, as [io.ReaderAt] says.
func (l *Large) ReadAt(p []byte, offset int64) (n int, err error) {
	if offset < 0 {
		return 0, fmt.Errorf("read large content at %d: %w", offset, domarkx.ErrInvalid)
	}
	for n < len(p) {
		if offset >= l.pointer.Size {
			return n, io.EOF
		}
		m, err := l.copyAt(p[n:], offset)
		if err != nil {
			return n, fmt.Errorf("read large content at %d: %w", offset, err)
		}
		n += m
		offset += int64(m)
	}
	return n, nil
}

// copyAt copies from the one chunk that has the offset.
func (l *Large) copyAt(p []byte, offset int64) (int, error) {
	if chunk, at := l.kept(offset); chunk != nil {
		return copy(p, chunk[offset-at:]), nil
	}
	c, at, err := l.find(offset)
	if err != nil {
		return 0, err
	}
	if offset == at && int64(len(p)) >= c.size {
		// What is written behind the chunk will be written over.
		return int(c.size), l.d.BlobInto(c.id, p[:c.size:len(p)])
	}
	chunk := make([]byte, c.size, c.size+slack)
	if err := l.d.BlobInto(c.id, chunk); err != nil {
		return 0, err
	}
	l.keep(partial{at, chunk})
	return copy(p, chunk[offset-at:]), nil
}

// kept returns the chunk that has the offset, if it is kept.
func (l *Large) kept(offset int64) (chunk []byte, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parts {
		if offset >= p.at && offset < p.at+int64(len(p.data)) {
			return p.data, p.at
		}
	}
	return nil, 0
}

func (l *Large) keep(p partial) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts[l.next] = p
	l.next = (l.next + 1) % keptParts
}

// find returns the chunk that has the offset, and where it begins.
func (l *Large) find(offset int64) (child, int64, error) {
	c, start := l.root, int64(0)
	for depth := 0; c.node; depth++ {
		if depth == maxChunkTree {
			return child{}, 0, fmt.Errorf("chunk tree: %w: it is too deep", domarkx.ErrCorrupt)
		}
		n, err := l.readNode(depth, c)
		if err != nil {
			return child{}, 0, err
		}
		i := sort.Search(len(n.ends), func(i int) bool { return start+n.ends[i] > offset })
		if i == len(n.ends) {
			return child{}, 0, errors.New("no chunk has the offset") // the sizes were checked
		}
		c = n.children[i]
		start += n.ends[i] - c.size
	}
	return c, start, nil
}

// readNode returns a node, from the last path when it is there.
func (l *Large) readNode(depth int, c child) (node, error) {
	l.mu.Lock()
	if depth < len(l.path) && l.path[depth].id == c.id && l.path[depth].size == c.size {
		n := l.path[depth]
		l.mu.Unlock()
		return n, nil
	}
	l.mu.Unlock()
	n, err := l.node(c)
	if err != nil {
		return node{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if depth <= len(l.path) {
		l.path = append(l.path[:depth:depth], n)
	}
	return n, nil
}

// node reads a node and checks that its children make up its size.
func (l *Large) node(c child) (node, error) {
	entries, err := l.d.Tree(c.id)
	if err != nil {
		return node{}, err
	}
	bad := func(what string) (node, error) {
		return node{}, fmt.Errorf("chunk tree %s: %w: %s", c.id, domarkx.ErrCorrupt, what)
	}
	if len(entries) > maxNode {
		return bad("it has too many entries")
	}
	n := node{id: c.id, size: c.size}
	total := int64(0)
	for i, e := range entries {
		number, size, ok := parseChildName(e.Name)
		if !ok || number != i || size <= 0 || size > math.MaxInt64-total || e.Mode != ModeFile && e.Mode != ModeTree {
			return bad(fmt.Sprintf("entry %q", e.Name))
		}
		if e.Mode == ModeFile && size > maxChunk {
			return bad(fmt.Sprintf("chunk %q is too large", e.Name))
		}
		total += size
		n.children = append(n.children, child{id: e.ID, node: e.IsTree(), size: size})
		n.ends = append(n.ends, total)
	}
	if total != c.size {
		return bad(fmt.Sprintf("it has %d bytes of content, expected %d", total, c.size))
	}
	return n, nil
}
