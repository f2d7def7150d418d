package chunked

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"sort"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// maxChunkTree is the maximum depth of a chunk tree. Nodes have at least two entries on
// average, and sizes are below 2^63.
const maxChunkTree = 48

// Content is content in chunks that is open for reading. [Content.ReadAt] may be called from several goroutines at
// once. It verifies each chunk, with the chunk's id or with the checksum in the pack index. [Content.Read] reads
// sequentially, and also verifies the SHA-256 of the whole content.
type Content struct {
	d       *odb.Database
	pointer Pointer
	root    child

	mu     sync.Mutex // guards the next two fields
	nodes  map[odb.ID]node
	recent []chunk

	offset int64 // state of Read
	sum    hash.Hash
}

// recentChunks is the number of chunks that are kept in memory because only a part of each was read. It is enough for
// some concurrent readers that each read sequentially.
const recentChunks = 4

// A chunk is the content of a chunk, with its place.
type chunk struct {
	start int64 // its offset in the content
	data  []byte
}

// A node is a decoded node of the chunk tree.
type node struct {
	size     int64
	children []child
	ends     []int64 // of the children, relative to the start of the node
}

// Open opens the content of a pointer, the blob id, and returns it with its size in bytes. chunks is the chunk tree
// beside the pointer. Open returns [domarkx.ErrCorrupt] if the blob is not a pointer, or not one to that tree.
func Open(d *odb.Database, pointer, chunks odb.ID) (*Content, int64, error) {
	data, err := d.Blob(pointer)
	if err != nil {
		return nil, 0, fmt.Errorf("open large content: %w", err)
	}
	p, err := DecodePointer(d.Hash(), data)
	if err != nil {
		return nil, 0, fmt.Errorf("open large content: %w: blob %s is not a pointer", domarkx.ErrCorrupt, pointer)
	}
	if p.Chunks != chunks {
		return nil, 0, fmt.Errorf("open large content: %w: pointer %s refers to %s, but %s is beside it", domarkx.ErrCorrupt, pointer, p.Chunks, chunks)
	}
	l := &Content{d: d, pointer: p, root: child{id: chunks, node: true, size: p.Size}, sum: sha256.New()}
	if _, err := l.node(l.root); err != nil {
		return nil, 0, fmt.Errorf("open large content: %w", err)
	}
	return l, p.Size, nil
}

// Size returns the number of bytes.
func (l *Content) Size() int64 { return l.pointer.Size }

// Close releases memory. The content can be read afterwards too.
func (l *Content) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes, l.recent = nil, nil
	return nil
}

// Read reads the content sequentially. At the end it returns [domarkx.ErrCorrupt] instead of [io.EOF] if the SHA-256
// differs from that in the pointer.
func (l *Content) Read(p []byte) (int, error) {
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

// ReadAt implements [io.ReaderAt].
func (l *Content) ReadAt(p []byte, offset int64) (n int, err error) {
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

// copyAt copies bytes from the chunk that contains the offset into p, up to the end of that chunk.
func (l *Content) copyAt(p []byte, offset int64) (int, error) {
	if recent, ok := l.recentAt(offset); ok {
		return copy(p, recent.data[offset-recent.start:]), nil
	}
	c, start, err := l.find(offset)
	if err != nil {
		return 0, err
	}
	if offset == start && int64(len(p)) >= c.size {
		return int(c.size), l.d.BlobInto(c.id, p[:c.size])
	}
	data := make([]byte, c.size)
	if err := l.d.BlobInto(c.id, data); err != nil {
		return 0, err
	}
	l.remember(chunk{start, data})
	return copy(p, data[offset-start:]), nil
}

func (l *Content) recentAt(offset int64) (chunk, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.recent {
		if offset >= c.start && offset < c.start+int64(len(c.data)) {
			return c, true
		}
	}
	return chunk{}, false
}

func (l *Content) remember(c chunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent = append(l.recent[max(0, len(l.recent)-recentChunks+1):], c)
}

// find returns the chunk that contains an offset, and the offset of the chunk.
func (l *Content) find(offset int64) (child, int64, error) {
	c, start := l.root, int64(0)
	for depth := 0; c.node; depth++ {
		if depth == maxChunkTree {
			return child{}, 0, fmt.Errorf("chunk tree: %w: it is too deep", domarkx.ErrCorrupt)
		}
		n, err := l.node(c)
		if err != nil {
			return child{}, 0, err
		}
		i := sort.Search(len(n.ends), func(i int) bool { return start+n.ends[i] > offset })
		if i == len(n.ends) {
			return child{}, 0, errors.New("no chunk contains the offset") // impossible: the sizes were checked
		}
		c = n.children[i]
		start += n.ends[i] - c.size
	}
	return c, start, nil
}

// maxNodes is the number of nodes that are kept in memory: some more than are above the recent chunks.
const maxNodes = 16

// node returns a node of the chunk tree.
func (l *Content) node(c child) (node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.nodes[c.id]; ok && n.size == c.size {
		return n, nil
	}
	n, err := l.readNode(c)
	if err != nil {
		return node{}, err
	}
	if l.nodes == nil || len(l.nodes) >= maxNodes {
		l.nodes = map[odb.ID]node{}
	}
	l.nodes[c.id] = n
	return n, nil
}

// readNode reads a node and checks that the sizes of its children add up to its size.
func (l *Content) readNode(c child) (node, error) {
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
	n := node{size: c.size}
	total := int64(0)
	for i, e := range entries {
		number, size, ok := parseChildName(e.Name)
		if !ok || number != i || size <= 0 || size > math.MaxInt64-total || e.Mode != odb.ModeFile && e.Mode != odb.ModeTree {
			return bad(fmt.Sprintf("entry %q", e.Name))
		}
		if e.Mode == odb.ModeFile && size > maxChunk {
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
